import { MessageChannel } from 'node:worker_threads';
import { MessagePortTransport } from '../../transports/message-port/message-port-transport.ts';
import { transportSuite } from './transport.suite.ts';

transportSuite('MessagePortTransport', async () => {
  const { port1, port2 } = new MessageChannel();
  const dialling = new MessagePortTransport(port1, { address: 'here' });
  const listening = new MessagePortTransport(port2, { address: 'there' });
  const all = [dialling, listening];
  return {
    dialling,
    listening,
    deadAddress: 'nowhere',
    leftOver: () => all.reduce((sum, one) => sum + one.openEnds + (one.isListening ? 1 : 0), 0),
    close: async () => {
      await Promise.all(all.map((one) => one.close()));
    },
  };
});
