import { libp2p } from 'orrery/libp2p';
import { transportSuite } from './transport.suite.ts';

transportSuite('Libp2pTransport', async () => {
  const dialling = libp2p({ listen: [] });
  const listening = libp2p();
  const all = [dialling, listening];
  return {
    dialling,
    listening,
    deadAddress: '/ip4/127.0.0.1/tcp/9/p2p/12D3KooWGRUQkgJQ5Qg1nGzDQH3yJN4Vzg8YYgjHzVCMNNYpAFKo',
    leftOver: () => all.reduce((sum, one) => sum + one.openEnds + (one.isListening ? 1 : 0), 0),
    close: async () => {
      await Promise.all(all.map((one) => one.close()));
    },
  };
});
