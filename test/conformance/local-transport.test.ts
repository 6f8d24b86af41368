import { LocalNetwork } from '../../transports/local/local-network.ts';
import { transportSuite } from './transport.suite.ts';

transportSuite('LocalNetwork', async () => {
  const network = new LocalNetwork();
  return {
    dialling: network.transport('here'),
    listening: network.transport('there'),
    deadAddress: 'nowhere',
    leftOver: () => network.openEnds + network.openListeners,
  };
});
