import { createServer, type Server as Listener, type Socket } from 'node:net';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import { invalidOptions } from '../../../../runtime/protocol/errors.ts';

/** Where connections are taken for gRPC. `close` takes no more; those that there are go on. */
export interface Accepting {
  readonly port: number;
  close(): void;
}

export interface AcceptOptions {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
}

/**
 * Takes connections for a server of gRPC, which by itself takes as many as come: beyond `maxConnections` the next one is
 * closed. Rejects with INVALID_OPTIONS for an address that cannot be had.
 */
export function accept(
  server: Server,
  credentials: ServerCredentials,
  { host, port, maxConnections }: AcceptOptions,
): Promise<Accepting> {
  const injector = server.createConnectionInjector(credentials);
  const listener = createServer((socket: Socket) => {
    socket.setNoDelay(true);
    injector.injectConnection(socket);
  });
  listener.maxConnections = maxConnections;
  return new Promise((resolve, reject) => {
    listener.once('error', (error) => {
      reject(invalidOptions('grpc.port', port, `one that is free at ${host}: ${error.message}`));
    });
    listener.listen({ host, port }, () => {
      resolve({ port: portOf(listener), close: () => void listener.close() });
    });
  });
}

function portOf(listener: Listener): number {
  const address = listener.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
