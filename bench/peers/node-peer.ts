import { startSystem } from 'orrery';
import { withParameters } from '../agents/agent-parameters.ts';
import { networkOf } from './peer-order.ts';
import { transportOf } from './transport-of.ts';

// The other node: a system of ours in a process of its own, whose agents work in a worker.

const HANDLER = new URL('../agents/handler-receiver.agent.ts', import.meta.url);
const FINDER = new URL('../agents/finder.agent.ts', import.meta.url);

const system = await startSystem({
  agents: [{ module: withParameters(HANDLER, { tier: 2 }), instances: ['receiver-1'] }, { module: FINDER }],
  workers: 1,
  peers: {
    transports: [await transportOf(networkOf(process.argv), 'listen')],
    identity: { node: 'there' },
    trust: [{ key: '*', tier: 2, sandboxId: null }],
  },
});
const { publicKey, addresses } = system.peers;
console.log(JSON.stringify({ address: addresses[0], publicKey }));

process.stdin.on('end', () => void system.stop().finally(() => process.exit(0))).resume();
