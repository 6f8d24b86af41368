import createTestnet from 'hyperdht/testnet.js';
import { peerNodesSuite } from '../conformance/peer-nodes.suite.ts';

peerNodesSuite('Hyperswarm', async () => {
  const testnet = await createTestnet(3);
  const common = { bootstrap: testnet.bootstrap, host: '127.0.0.1' };
  return {
    listening: (name) => ({
      kind: 'hyperswarm',
      options: { ...common, seed: Buffer.from(name).toString('hex').padEnd(64, '0') },
    }),
    dialling: () => ({ kind: 'hyperswarm', options: common }),
    [Symbol.asyncDispose]: () => testnet.destroy(),
  };
});
