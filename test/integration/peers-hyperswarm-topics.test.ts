import createTestnet from 'hyperdht/testnet.js';
import { hyperSwarm } from 'orrery/hyperswarm';
import { peerTopicsSuite } from '../conformance/peer-topics.suite.ts';

peerTopicsSuite('Hyperswarm', async () => {
  const testnet = await createTestnet(4);
  const options = { bootstrap: testnet.bootstrap, host: '127.0.0.1', searchMs: 2_000 };
  return {
    joining: () => hyperSwarm(options),
    [Symbol.asyncDispose]: () => testnet.destroy(),
  };
});
