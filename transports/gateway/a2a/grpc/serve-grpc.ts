import { Server, ServerCredentials } from '@grpc/grpc-js';
import { invalidOptions } from '../../../../runtime/protocol/errors.ts';
import { requireText } from '../../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../../runtime/protocol/seams.ts';
import type { Admit } from '../../http/gateway-part.ts';
import { hostOf, isLoopback } from '../../http/served-names.ts';
import { type TlsOptions, tlsMaterial } from '../../http/tls-material.ts';
import type { A2AService } from '../a2a-service.ts';
import type { CardSigner } from '../card-signature.ts';
import { GRPC_SERVICE, grpcHandlers } from './grpc-handlers.ts';

/**
 * - `admit`           finds out who calls, from metadata and the message's bytes.
 * - `isGuarded`       whether callers have to prove who they are; else `host` is one of this machine alone.
 * - `baseUrl`         under which callers reach the gateway over HTTP, for cards.
 * - `host`            @default '127.0.0.1'
 * - `port`            0 takes one that is free. @default 0
 * - `tls`             without it, calls come as they are.
 * - `maxMessageBytes` of one message. @default 4 MiB
 * - `maxStreams`      calls at once over one connection, of each of which a message may be held. @default 100
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
  readonly maxStreams?: number;
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
const DRAIN_MS = 10_000;
const KEEPALIVE_MS = 30_000;

/** Rejects with INVALID_OPTIONS naming field and value: also for an address that others can reach and nobody guards. */
export async function serveGrpc(options: ServeGrpcOptions): Promise<ServingGrpc> {
  const { host = '127.0.0.1', port = 0, tls, clock, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
  requireText('grpc.host', host);
  requireWhole('grpc.port', port, 0, 65_535);
  requireWhole('grpc.maxMessageBytes', maxMessageBytes, 1, Number.MAX_SAFE_INTEGER);
  requireWhole('grpc.maxStreams', options.maxStreams ?? MAX_STREAMS, 1, 2 ** 31 - 1);
  if (!options.isGuarded && !isLoopback(hostOf(host)))
    throw invalidOptions('grpc.host', host, 'an address of this machine alone, or an authenticator');
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': options.maxStreams ?? MAX_STREAMS,
    // A caller that has died without a word is found out, and its streams end.
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_MS,
  });
  const closing = new AbortController();
  const scheme = tls === undefined ? 'http' : 'https';
  server.addService(GRPC_SERVICE, grpcHandlers({ ...options, scheme, closing: closing.signal }));
  const bound = await bind(server, authority(host, port), tls);
  let closed: Promise<void> | undefined;
  return {
    address: authority(host, bound),
    port: bound,
    close: ({ drainMs = DRAIN_MS } = {}) => {
      closing.abort();
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

function bind(server: Server, address: string, tls: TlsOptions | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentialsOf(tls), (error, port) => {
      if (error === null) resolve(port);
      else reject(invalidOptions('grpc.port', address, `an address that is free: ${error.message}`));
    });
  });
}

function credentialsOf(tls: TlsOptions | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { key, cert, requestCert, ca } = tlsMaterial(tls);
  const authorities = ca === undefined ? null : Buffer.from(ca);
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
  return ServerCredentials.createSsl(authorities, [pair], requestCert);
}

/** What is not done in time is cut off. */
function shutDown(server: Server, clock: Clock, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimer = clock.setTimer(drainMs, () => server.forceShutdown());
    server.tryShutdown(() => {
      cancelTimer();
      resolve();
    });
  });
}
