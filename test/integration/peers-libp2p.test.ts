import { peerNodesSuite } from '../conformance/peer-nodes.suite.ts';
import { freePort } from '../fixtures/free-port.ts';

peerNodesSuite('libp2p', async () => {
  const ports = new Map<string, number>();
  return {
    listening: async (name) => {
      const port = ports.get(name) ?? (await freePort());
      ports.set(name, port);
      const seed = Buffer.from(name).toString('hex').padEnd(64, '0');
      return { kind: 'libp2p', options: { seed, listen: [`/ip4/127.0.0.1/tcp/${port}`] } };
    },
    dialling: () => ({ kind: 'libp2p', options: {} }),
    [Symbol.asyncDispose]: async () => undefined,
  };
});
