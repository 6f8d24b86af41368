import type { Transport } from 'orrery';
import type { Network } from './peer-order.ts';

const LOOPBACK = '127.0.0.1';

/** The transport of a node on loopback. */
export async function transportOf(network: Network, end: 'listen' | 'dial'): Promise<Transport> {
  const { link, bootstrap } = network;
  const { port, seed } = end === 'listen' ? network : { port: 0, seed: undefined };
  const keys = seed === undefined ? {} : { seed };
  if (link === 'websocket') return (await import('orrery/websocket')).webSocket({ port });
  if (link === 'hyperswarm')
    return (await import('orrery/hyperswarm')).hyperSwarm({ bootstrap, host: LOOPBACK, ...keys });
  const { libp2p } = await import('orrery/libp2p');
  return libp2p(end === 'listen' ? { listen: [`/ip4/${LOOPBACK}/tcp/${port}`], ...keys } : {});
}
