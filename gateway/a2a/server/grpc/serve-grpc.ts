import { Server, ServerCredentials } from '@grpc/grpc-js';
import { invalidOptions } from '../../../../runtime/protocol/errors.ts';
import { requireText } from '../../../../runtime/protocol/parse-options.ts';
import { MAX_TIMER_MS } from '../../../../runtime/protocol/milliseconds.ts';
import type { Clock } from '../../../../runtime/protocol/seams.ts';
import type { Admit } from '../../../http/gateway-part.ts';
import { MEMBER_LIMITS } from '../../../http/json-text.ts';
import { hostOf, isLoopback } from '../../../http/request-guard.ts';
import { type TlsOptions, tlsMaterial } from '../../../http/tls-material.ts';
import type { A2AService } from '../a2a-service.ts';
import type { CardSigner } from '../../wire/card-signature.ts';
import { GRPC_SERVICE, grpcEdge, grpcHandlers } from './grpc-handlers.ts';
import { messageTimeout } from './message-timeout.ts';
import { createServer, type Server as Listener, type Socket } from 'node:net';

/**
 * - `admit`           finds out who calls, from metadata and the message's bytes.
 * - `isGuarded`       whether callers have to prove who they are; else `host` is one of this machine alone.
 * - `baseUrl`         under which callers reach the gateway over HTTP, for cards.
 * - `host`            @default '127.0.0.1'
 * - `port`            0 takes one that is free. @default 0
 * - `tls`             without it, calls come as they are.
 * - `maxMessageBytes` of one message. @default 4 MiB
 * - `maxKeys`, `maxElements` of one message, as JSON. @default 20,000 and 200,000
 * - `maxStreams`      calls at once over one connection, of each of which a message may be held. @default 100
 * - `maxConnections`  beyond that the next one is closed. @default 1,000
 * - `messageTimeoutMs` until all of a message is here. @default 2 minutes
 * - `onFault`         hears of errors that no caller is told of, and of the method's path.
 */
export interface ServeGrpcOptions {
  readonly service: A2AService;
  readonly admit: Admit;
  readonly isGuarded: boolean;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly host?: string;
  readonly port?: number;
  readonly tls?: TlsOptions;
  readonly signer?: CardSigner;
  readonly maxMessageBytes?: number;
  readonly maxKeys?: number;
  readonly maxElements?: number;
  readonly maxStreams?: number;
  readonly maxConnections?: number;
  readonly messageTimeoutMs?: number;
  readonly onFault?: (error: unknown, path: string) => void;
}

/**
 * A2A over gRPC, on a port of its own. `address` for cards and channels, such as `127.0.0.1:4001`. `close` takes no more calls, ends
 * streams, gives what is in hand `drainMs` to be done, and then ends it.
 */
export interface ServingGrpc {
  readonly address: string;
  readonly port: number;
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;
const MAX_STREAMS = 100;
const MAX_CONNECTIONS = 1_000;
const MESSAGE_TIMEOUT_MS = 2 * 60_000;
/** How long a connection may be idle before it is told to close. */
const IDLE_MS = 5 * 60_000;
const DRAIN_MS = 10_000;
/** The largest number that a frame can carry (RFC 9113, 6.5.2). */
const MAX_STREAMS_OF_HTTP2 = 2 ** 31 - 1;
const KEEPALIVE_MS = 30_000;

/** Rejects with INVALID_OPTIONS naming field and value: also for an address that others can reach and nobody guards. */
export async function serveGrpc(options: ServeGrpcOptions): Promise<ServingGrpc> {
  const { host = '127.0.0.1', port = 0, tls, clock, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  const { maxStreams = MAX_STREAMS, maxConnections = MAX_CONNECTIONS } = options;
  const { messageTimeoutMs = MESSAGE_TIMEOUT_MS } = options;
  requireText('grpc.host', host);
  requireWhole('grpc.port', port, 0, 65_535);
  requireWhole('grpc.maxMessageBytes', maxMessageBytes, 1, Number.MAX_SAFE_INTEGER);
  const members = {
    maxKeys: options.maxKeys ?? MEMBER_LIMITS.maxKeys,
    maxElements: options.maxElements ?? MEMBER_LIMITS.maxElements,
  };
  for (const [name, most] of Object.entries(members))
    requireWhole(`grpc.${name}`, most, 1, Number.MAX_SAFE_INTEGER);
  requireWhole('grpc.maxStreams', maxStreams, 1, MAX_STREAMS_OF_HTTP2);
  requireWhole('grpc.maxConnections', maxConnections, 1, Number.MAX_SAFE_INTEGER);
  requireWhole('grpc.messageTimeoutMs', messageTimeoutMs, 1, MAX_TIMER_MS);
  if (!options.isGuarded && !isLoopback(hostOf(host)))
    throw invalidOptions('grpc.host', host, 'an address of this machine alone, or an authenticator');
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': maxStreams,
    'grpc.max_connection_idle_ms': IDLE_MS,
    // Finds callers that have died, so that their streams end.
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_MS,
    interceptors: [messageTimeout(messageTimeoutMs, { clock })],
  });
  const closing = new AbortController();
  const scheme = tls === undefined ? 'http' : 'https';
  const edge = grpcEdge({ ...options, closing: closing.signal });
  const { service, signer } = options;
  server.addService(GRPC_SERVICE, grpcHandlers({ service, signer, edge, members, scheme }));
  const accepting = await accept(server, credentialsOf(tls), { host, port, maxConnections });
  let closed: Promise<void> | undefined;
  return {
    address: authority(host, accepting.port),
    port: accepting.port,
    close: ({ drainMs = DRAIN_MS } = {}) => {
      closing.abort();
      accepting.close();
      closed ??= shutDown(server, clock, drainMs);
      return closed;
    },
  };
}

const authority = (host: string, port: number): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

function requireWhole(field: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidOptions(field, value, `a whole number from ${least} to ${most}`);
}

function credentialsOf(tls: TlsOptions | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { key, cert, requestCert, ca } = tlsMaterial(tls, 'grpc.tls');
  const authorities = ca === undefined ? null : Buffer.from(ca);
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
  return ServerCredentials.createSsl(authorities, [pair], requestCert);
}

/** Shuts down; calls that are not done in time are cut off. */
function shutDown(server: Server, clock: Clock, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = clock.setTimer(drainMs, () => server.forceShutdown());
    server.tryShutdown(() => {
      cancelTimer();
      resolve();
    });
  });
}

/** A listener for gRPC. `close` accepts no more connections; open ones go on. */
interface Accepting {
  readonly port: number;
  close(): void;
}

interface AcceptOptions {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
}

/**
 * Takes connections for a server of gRPC, which by itself takes as many as come: beyond `maxConnections` the next one is
 * closed. Rejects with INVALID_OPTIONS for an address that cannot be had.
 */
function accept(
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
