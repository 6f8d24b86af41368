import { ChannelManager, type Transport } from 'orrery';
import { networkOf } from '../peers/peer-order.ts';
import { transportOf } from '../peers/transport-of.ts';

/** A process with both ends of so many channels that have nothing to do, after a collection. */
export interface IdleChannels {
  readonly heapBytes: number;
  readonly processBytes: number;
  readonly openMs: number;
}

const network = networkOf(process.argv);
const count = Number(process.argv[3]);
/** Channels that are opened at a time, each group by a transport of its own: a connection carries so many streams at most. */
const WIDTH = 16;

const settings = { channel: { heartbeatMs: 600_000, silenceTimeoutMs: 1_800_000 }, maxAccepted: count };
const there = managerOf(await transportOf(network, 'listen'), 'there');
const [endpoint] = await there.listen();
const group = Array.from({ length: WIDTH }, async () =>
  managerOf(await transportOf(network, 'dial'), 'here'),
);
const dialling = await Promise.all(group);

const beforeMs = performance.now();
let opened = 0;
const open = async (here: ChannelManager): Promise<void> => {
  while (opened++ < count) await here.openChannel('here', 'there');
};
await Promise.all(dialling.map(open));
const openMs = performance.now() - beforeMs;
globalThis.gc?.();
globalThis.gc?.();
const { heapUsed, rss } = process.memoryUsage();
console.log(JSON.stringify({ heapBytes: heapUsed, processBytes: rss, openMs } satisfies IdleChannels));
process.exit(0);

function managerOf(transport: Transport, agent: string): ChannelManager {
  return new ChannelManager({
    ...settings,
    transports: [transport],
    hosts: (id) => id === agent,
    endpointsOf: () => (endpoint === undefined ? [] : [endpoint]),
  });
}
