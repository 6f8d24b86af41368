import { webSocket } from 'orrery/websocket';
import { transportSuite } from './transport.suite.ts';

transportSuite('WebSocketTransport', async () => {
  const dialling = webSocket();
  const listening = webSocket();
  const all = [dialling, listening];
  return {
    dialling,
    listening,
    deadAddress: 'ws://127.0.0.1:9/orrery',
    leftOver: () => all.reduce((sum, one) => sum + one.openEnds + one.openListeners, 0),
    close: async () => {
      await Promise.all(all.map((one) => one.close()));
    },
  };
});
