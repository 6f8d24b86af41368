import { peerNodesSuite } from '../conformance/peer-nodes.suite.ts';
import { freePort } from '../fixtures/free-port.ts';

peerNodesSuite('WebSocket', async () => {
  const ports = new Map<string, number>();
  return {
    listening: async (name) => {
      const port = ports.get(name) ?? (await freePort());
      ports.set(name, port);
      return { kind: 'websocket', options: { port } };
    },
    dialling: () => ({ kind: 'websocket', options: {} }),
    [Symbol.asyncDispose]: async () => undefined,
  };
});
