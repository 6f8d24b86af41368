import createTestnet from 'hyperdht/testnet.js';
import { hyperSwarm } from 'orrery/hyperswarm';
import { topicTransportSuite } from './topic-transport.suite.ts';

topicTransportSuite(
  'HyperswarmTransport',
  async () => {
    const testnet = await createTestnet(3);
    const options = { bootstrap: testnet.bootstrap, host: '127.0.0.1' };
    return {
      make: (seed) => hyperSwarm({ ...options, ...(seed === undefined ? {} : { seed }) }),
      process: (seed) => ['orrery/hyperswarm', 'hyperSwarm', { ...options, seed }],
      close: () => testnet.destroy(),
    };
  },
  (address) => address,
);
