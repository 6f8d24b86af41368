import { createPrivateKey, createPublicKey } from 'node:crypto';
import { type SigningKeyPair, startSystem } from 'orrery';
import { withParameters } from '../agents/agent-parameters.ts';
import { networkOf } from './peer-order.ts';
import { transportOf } from './transport-of.ts';

// The other node: a system of ours in a process of its own, whose agents work in a worker.

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8 = '302e020100300506032b657004220420';

const HANDLER = new URL('../agents/handler-receiver.agent.ts', import.meta.url);
const FINDER = new URL('../agents/finder.agent.ts', import.meta.url);

const network = networkOf(process.argv);
const system = await startSystem({
  agents: [{ module: withParameters(HANDLER, { tier: 2 }), instances: ['receiver-1'] }, { module: FINDER }],
  workers: 1,
  peers: {
    transports: [await transportOf(network, 'listen')],
    identity: { node: 'there', ...(network.seed === undefined ? {} : { key: keysOf(network.seed) }) },
    trust: [{ key: '*', tier: 2, sandboxId: null }],
  },
});
const { publicKey, addresses } = system.peers;
console.log(JSON.stringify({ address: addresses[0], publicKey }));

process.stdin.on('end', () => void system.stop().finally(() => process.exit(0))).resume();

function keysOf(seed: string): SigningKeyPair {
  const der = Buffer.from(PKCS8 + seed, 'hex');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: String(createPublicKey(privateKey).export({ format: 'jwk' }).x) };
}
