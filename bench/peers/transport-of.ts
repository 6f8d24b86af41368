import type { Transport } from 'orrery';
import type { Network } from './peer-order.ts';

const LOOPBACK = '127.0.0.1';

/** The transport of a node on loopback. */
export async function transportOf({ link, bootstrap }: Network, end: 'listen' | 'dial'): Promise<Transport> {
  if (link === 'websocket') return (await import('orrery/websocket')).webSocket();
  if (link === 'hyperswarm')
    return (await import('orrery/hyperswarm')).hyperSwarm({ bootstrap, host: LOOPBACK });
  const { libp2p } = await import('orrery/libp2p');
  return libp2p(end === 'listen' ? { listen: [`/ip4/${LOOPBACK}/tcp/0`] } : {});
}
