import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { peerNodesSuite } from '../conformance/peer-nodes.suite.ts';

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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
