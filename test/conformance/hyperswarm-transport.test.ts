import createTestnet from 'hyperdht/testnet.js';
import { hyperSwarm } from 'orrery/hyperswarm';
import { transportSuite } from './transport.suite.ts';

transportSuite('HyperswarmTransport', async () => {
  const testnet = await createTestnet(3);
  const options = { bootstrap: testnet.bootstrap, host: '127.0.0.1' };
  const dialling = hyperSwarm(options);
  const listening = hyperSwarm({ ...options, seed: '07'.repeat(32) });
  const all = [dialling, listening];
  return {
    dialling,
    listening,
    deadAddress: `hyperswarm:${'ab'.repeat(32)}`,
    leftOver: () => all.reduce((sum, one) => sum + one.openEnds + (one.isListening ? 1 : 0), 0),
    close: async () => {
      await Promise.all(all.map((one) => one.close()));
      await testnet.destroy();
    },
  };
});
