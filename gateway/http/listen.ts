import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { Gateway, RoutedCall } from './gateway.ts';
import { type EdgeFault, jsonError } from './http-errors.ts';
import { hostOf, isLoopback, originOf } from './request-guard.ts';
import { isEventStream } from './open-streams.ts';
import type { Peer } from './requests-in-hand.ts';
import { textOf, writeAnswer, writeStream, writeText } from './answer.ts';
import { type TlsOptions, tlsMaterial } from './tls-material.ts';
import type { EdgeCall } from './edge-call.ts';

/**
 * - `host` address or name of this machine; any that others can reach needs an authenticator. @default '127.0.0.1'
 * - `port` 0 takes one that is free. @default 0
 * - `tls`  without it, requests come as they are.
 */
export interface ListenOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: TlsOptions;
}

/** A gateway that listens. `url` under which it is reached on this machine, without a slash at its end. */
export interface Listening {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** As the gateway's `close`; then ends all connections. */
  close(options?: { drainMs?: number }): Promise<void>;
}

const MAX_HEADERS = 100;
const MAX_CHECK_MS = 1_000;
/**
 * So many connections wait at least until a busy thread accepts them; the system may have a bound of its own. Whoever finds no room
 * there tries again for seconds, and may be cut off.
 */
const LEAST_WAITING = 511;
const DEFAULT_DRAIN_MS = 10_000;

/** Serves a gateway on a socket. Rejects with INVALID_OPTIONS naming host, port or the part of `tls` at fault. */
export async function listen(gateway: Gateway, options: ListenOptions = {}): Promise<Listening> {
  const { host = '127.0.0.1', port = 0, tls } = options;
  checkAddress(host, port, gateway);
  const connections = new Connections();
  const server = serverOf(gateway, connections, tls);
  await bound(server, host, port);
  const address = server.address() as AddressInfo;
  if (isLoopback(hostOf(host)) && !isLoopback(address.address)) {
    // A name that says it is this machine's own, and is not.
    await closed(server);
    throw wider(host);
  }
  gateway.metrics.over(connections);
  let closing: Promise<void> | undefined;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${reachable(host)}:${address.port}`,
    host,
    port: address.port,
    close: ({ drainMs = DEFAULT_DRAIN_MS } = {}) => {
      closing ??= close(gateway, server, connections, drainMs);
      return closing;
    },
  };
}

function checkAddress(host: string, port: number, { isGuarded }: Gateway): void {
  if (typeof host !== 'string' || host === '') throw invalidOptions('host', host, 'an address or a name');
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalidOptions('port', port, 'a whole number from 0 to 65535');
  if (!isLoopback(hostOf(host)) && !isGuarded) throw wider(host);
}

const wider = (host: string) =>
  invalidOptions('host', host, 'an address of this machine alone, such as 127.0.0.1, or an authenticator');

function serverOf(gateway: Gateway, connections: Connections, tls: TlsOptions | undefined): Server {
  const { limits } = gateway;
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs),
    requestTimeout: limits.bodyTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs, MAX_CHECK_MS),
    requireHostHeader: false,
    // Joined as `Headers` of `fetch` joins them: two credentials are then neither.
    joinDuplicateHeaders: true,
  };
  const server: Server =
    tls === undefined
      ? createServer(options)
      : createTlsServer({ ...options, handshakeTimeout: limits.headersTimeoutMs, ...tlsMaterial(tls) });
  server.maxConnections = limits.maxConnections;
  server.maxHeadersCount = MAX_HEADERS;
  server.setTimeout(limits.stallTimeoutMs, (socket) => onTimeout(socket, connections, limits.stallTimeoutMs));
  const onRequest = requestListener(gateway);
  const onAny = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    connections.answering(incoming.socket, outgoing);
    const call = plainCall(incoming, outgoing, limits);
    const answer = call === undefined ? undefined : gateway.answer(call, peerOf(incoming, outgoing));
    if (answer === undefined) void onRequest(incoming, outgoing);
    else void answer.then((known) => writeAnswer(known, outgoing));
  };
  server.on('connection', connections.add);
  server.on('request', onAny);
  // What is too large by its own account need not be sent.
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (Number(incoming.headers['content-length'] ?? 0) <= limits.maxBodyBytes) outgoing.writeContinue();
    onAny(incoming, outgoing);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    answerNonsense(error, socket, connections),
  );
  server.on('drop', () => gateway.metrics.refused('TOO_MANY_CONNECTIONS'));
  return server;
}

function requestListener(gateway: Gateway) {
  return getRequestListener(
    async (request, { incoming, outgoing }) => {
      const peer = peerOf(incoming as IncomingMessage, outgoing as ServerResponse);
      const response = await gateway.handle(request, peer);
      const text = textOf(response);
      if (text !== undefined) writeText(response, text, outgoing as ServerResponse);
      else if (isEventStream(response.headers)) void writeStream(response, outgoing as ServerResponse);
      else return response;
      return RESPONSE_ALREADY_SENT;
    },
    {
      overrideGlobalObjects: false,
      // Path and host that make no URL.
      errorHandler: () => jsonError(400, 'BAD_REQUEST', 'The request has no valid target'),
    },
  );
}

const peerOf = (incoming: IncomingMessage, outgoing: ServerResponse): Peer => ({
  body: incoming,
  address: incoming.socket.remoteAddress,
  cut: () => outgoing.destroy(),
});

/** Ends a connection whose caller reads nothing. One whose caller waits for an answer stays. */
function onTimeout(socket: Socket, connections: Connections, stallTimeoutMs: number): void {
  if (connections.isAnswering(socket) && socket.writableLength === 0) socket.setTimeout(stallTimeoutMs);
  else socket.destroy();
}

const NONSENSE: Readonly<Record<string, readonly [number, string, EdgeFault, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'TOO_SLOW', 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'HEADERS_TOO_LARGE',
    'The headers are too large',
  ],
};

/** Answers what is no HTTP request, as far as it can be answered, and ends the connection. */
function answerNonsense(error: NodeJS.ErrnoException, socket: Socket, connections: Connections): void {
  const isNoRequest = error.code?.startsWith('HPE_') || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (!isNoRequest || !socket.writable || connections.isInTheMiddle(socket)) {
    socket.destroy();
    return;
  }
  const [status, reason, code, message] = NONSENSE[error.code ?? ''] ?? [
    400,
    'Bad Request',
    'BAD_REQUEST',
    'This is no request of HTTP/1.1',
  ];
  const body = JSON.stringify({ error: { code, message } });
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const FAULTS: Readonly<Record<string, readonly ['host' | 'port', string]>> = {
  EADDRINUSE: ['port', 'one that nobody else listens on'],
  EACCES: ['port', 'one that this user may listen on'],
  EADDRNOTAVAIL: ['host', 'an address of this machine'],
  ENOTFOUND: ['host', 'a name that leads to an address of this machine'],
  EAI_AGAIN: ['host', 'a name that leads to an address of this machine'],
};

function bound(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // The handler stays: without free descriptors, new callers are not accepted, and the others are served on.
    server.on('error', (error: NodeJS.ErrnoException) => {
      const [field, expected] = FAULTS[error.code ?? ''] ?? [];
      if (field === undefined || expected === undefined) reject(error);
      else reject(invalidOptions(field, field === 'host' ? host : port, expected));
    });
    const backlog = Math.max(LEAST_WAITING, server.maxConnections);
    server.listen({ host: hostOf(host), port, backlog }, () => {
      resolve();
    });
  });
}

async function close(
  gateway: Gateway,
  server: Server,
  connections: Connections,
  drainMs: number,
): Promise<void> {
  const { clock } = gateway.seams;
  const late = Promise.withResolvers<void>();
  const cancel = clock.setTimer(drainMs, late.resolve);
  const isClosed = closed(server);
  try {
    await gateway.close({ drainMs });
    await Promise.race([connections.whenAnswered(), late.promise]);
  } finally {
    cancel();
    connections.destroyAll();
    await isClosed;
  }
}

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** The address under which a host that means all addresses is reached from this machine. */
function reachable(host: string): string {
  const plain = hostOf(host);
  if (plain === '0.0.0.0') return '127.0.0.1';
  if (plain === '::') return '[::1]';
  return plain.includes(':') ? `[${plain}]` : plain;
}

/** The connections of a server, and the answers that are being written to them. */
class Connections {
  readonly #sockets = new Set<Socket>();
  /** The answers under way on each connection, in the order of the requests. */
  readonly #answers = new WeakMap<Socket, ServerResponse[]>();
  #answering = 0;
  /** Bytes of closed connections. */
  #bytesIn = 0;
  #bytesOut = 0;
  #waiting: (() => void)[] = [];

  get size(): number {
    return this.#sockets.size;
  }

  get bytesIn(): number {
    return sum(this.#sockets, ({ bytesRead }) => bytesRead, this.#bytesIn);
  }

  get bytesOut(): number {
    return sum(this.#sockets, ({ bytesWritten }) => bytesWritten, this.#bytesOut);
  }

  readonly add = (socket: Socket): void => {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#bytesIn += socket.bytesRead;
      this.#bytesOut += socket.bytesWritten;
    });
  };

  /** Tracks an answer until all of it is sent, or its connection is gone. */
  answering(socket: Socket, response: ServerResponse): void {
    const responses = this.#answers.get(socket) ?? [];
    if (responses.push(response) === 1) this.#answers.set(socket, responses);
    this.#answering += 1;
    response.once('close', () => {
      responses.splice(responses.indexOf(response), 1);
      this.#answering -= 1;
      if (this.#answering > 0) return;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  isAnswering(socket: Socket): boolean {
    return (this.#answers.get(socket)?.length ?? 0) > 0;
  }

  /** Whether part of an answer is sent already: more text would be taken for its rest. */
  isInTheMiddle(socket: Socket): boolean {
    return (this.#answers.get(socket) ?? []).some(({ headersSent }) => headersSent);
  }

  /** Resolves when nothing is being answered. */
  whenAnswered(): Promise<void> {
    if (this.#answering === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

const sum = (sockets: Iterable<Socket>, bytes: (socket: Socket) => number, from: number): number => {
  let all = from;
  for (const socket of sockets) all += bytes(socket);
  return all;
};

/** Paths of these characters have one reading. Others may be written in several ways. */
const PLAIN_PATH = /^\/[\w./:~-]*$/;
const PLAIN_HOST = /^[a-z0-9.-]+(?::\d+)?$/;
const LENGTH = /^\d{1,15}$/;

/**
 * A request as Node has parsed it, if it has one reading: a plain path and host, and a declared body length that is not too
 * large. Undefined for all others, which take the way through `Request`.
 */
function plainCall(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { maxBodyBytes }: { readonly maxBodyBytes: number },
): PlainCall | undefined {
  const { url: path = '', headers } = incoming;
  const { host = '', 'content-length': length = '' } = headers;
  if (!LENGTH.test(length) || Number(length) > maxBodyBytes) return undefined;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return undefined;
  if (!PLAIN_HOST.test(host) || !PLAIN_PATH.test(path) || path.includes('/.')) return undefined;
  const origin = `${'encrypted' in incoming.socket ? 'https' : 'http'}://${host}`;
  if (plainOriginOf(origin) !== origin) return undefined;
  return new PlainCall(incoming, outgoing, { origin, path });
}

/** Undefined if it is no origin. */
function plainOriginOf(origin: string): string | undefined {
  try {
    return originOf(origin);
  } catch {
    return undefined;
  }
}

/** A call on a connection of Node's. `path`: without the query, as it stands in the URL. */
class PlainCall implements RoutedCall {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: EdgeCall['headers'];
  readonly #outgoing: ServerResponse;
  #leaving: AbortController | undefined;

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    { origin, path }: { readonly origin: string; readonly path: string },
  ) {
    this.method = incoming.method ?? '';
    this.url = origin + path;
    this.path = path;
    this.headers = new PlainHeaders(incoming.headers);
    this.#outgoing = outgoing;
  }

  /** Made when it is first read: most calls are answered without it. */
  get signal(): AbortSignal {
    this.#leaving ??= leavingOf(this.#outgoing);
    return this.#leaving.signal;
  }
}

function leavingOf(outgoing: ServerResponse): AbortController {
  const leaving = new AbortController();
  const gone = (): void => {
    if (!outgoing.writableFinished) leaving.abort(GONE);
  };
  if (outgoing.destroyed) gone();
  else outgoing.once('close', gone);
  return leaving;
}

/** One error for all, because nobody reads its stack. */
const GONE = new Error('The caller has gone');

/** Headers whose repeated names are joined, as `Headers` of `fetch` joins them. */
class PlainHeaders implements Pick<Headers, 'get' | 'has'> {
  readonly #fields: IncomingMessage['headers'];

  constructor(fields: IncomingMessage['headers']) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    const field = name.toLowerCase();
    const value = Object.hasOwn(this.#fields, field) ? this.#fields[field] : undefined;
    return typeof value === 'string' ? value : (value?.join(', ') ?? null);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name.toLowerCase());
  }
}
