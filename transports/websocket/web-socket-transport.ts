import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { cancelled, invalidOptions, reasonOf } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import {
  type Listener,
  type Transport,
  type TransportSpec,
  unreachable,
} from '../../runtime/protocol/transport.ts';
import { CarriedConnection } from '../carried-connection.ts';
import { WebSocketCarrier } from './web-socket-carrier.ts';

/**
 * - `host`, `port`     where it listens; with port 0 the machine chooses one. @default '127.0.0.1', 0
 * - `path`             the path of the address. Other paths are answered with 404. @default '/orrery'
 * - `maxFrameBytes`    the largest frame that is carried; the same at both ends. @default 1_048_576
 * - `headers`          sent when it connects.
 * - `origins`          web pages that may connect. A browser names the page in `Origin`; any other page gets 403. @default []
 * - `tls`              PEM texts. With `key` and `cert` it listens at `wss:`; `ca` is what it trusts when it connects.
 * - `connectTimeoutMs` how long connecting may take, milliseconds; also for whoever connects to it. @default 10_000
 */
export const WebSocketOptions = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(0),
  path: z
    .string()
    .startsWith('/')
    .regex(/^[^?#\s]*$/)
    .default('/orrery'),
  maxFrameBytes: z.int().positive().default(1_048_576),
  headers: z.record(z.string(), z.string()).default({}),
  origins: z.array(z.string()).default([]),
  tls: z
    .strictObject({ key: z.string().optional(), cert: z.string().optional(), ca: z.string().optional() })
    .refine(({ key, cert }) => (key === undefined) === (cert === undefined), 'both key and cert, or neither')
    .optional(),
  connectTimeoutMs: z.int().positive().default(10_000),
});
export type WebSocketOptions = z.input<typeof WebSocketOptions>;

/** Those that a listener has at a time: more are ended as they come. */
const MAX_CONNECTIONS = 2_048;

const STATUS_TEXT = { 403: 'Forbidden', 404: 'Not Found' } as const;

/**
 * Carries frames over WebSockets, one message a frame. An address is `ws://host:port/path`, or `wss://…` with TLS.
 *
 * A frame above `maxFrameBytes` ends its connection before anything is allocated for it. A peer that dies without a goodbye,
 * or lies behind a network that is cut, is not noticed here: ask it.
 */
export class WebSocketTransport implements Transport {
  readonly kind = 'websocket';
  readonly maxFrameBytes: number;
  readonly #options: z.output<typeof WebSocketOptions>;
  readonly #ends = new Set<CarriedConnection>();
  readonly #listeners = new Set<Listener>();

  readonly spec?: TransportSpec;

  /** Fails with INVALID_OPTIONS naming field and value. */
  constructor(options: WebSocketOptions = {}, spec?: TransportSpec) {
    if (spec !== undefined) this.spec = spec;
    this.#options = parseOptions(WebSocketOptions, options, 'webSocket');
    this.maxFrameBytes = this.#options.maxFrameBytes;
  }

  /** Ends of connections that are open here. */
  get openEnds(): number {
    return this.#ends.size;
  }

  get openListeners(): number {
    return this.#listeners.size;
  }

  async connect(
    address: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<CarriedConnection> {
    if (signal?.aborted === true) throw cancelled(`Connecting to "${address}"`);
    const { headers, tls, maxFrameBytes, connectTimeoutMs } = this.#options;
    if (!/^wss?:\/\//.test(address) || !URL.canParse(address))
      throw unreachable(address, 'it is not an address of a WebSocket');
    const webSocket = new WebSocket(address, {
      headers,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      handshakeTimeout: connectTimeoutMs,
      ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
    });
    const settled = Promise.withResolvers<CarriedConnection>();
    const abort = (): void => {
      settled.reject(cancelled(`Connecting to "${address}"`));
      webSocket.terminate();
    };
    signal?.addEventListener('abort', abort, { once: true });
    webSocket.once('error', (error) =>
      settled.reject(unreachable(address, reasonOf(error) || 'it was refused', error)),
    );
    // What the other end says at once comes with the answer: whoever reads it has to be there before.
    webSocket.once('upgrade', ({ socket }) =>
      webSocket.once('open', () => settled.resolve(this.#open(webSocket, socket))),
    );
    try {
      return await settled.promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Fails with INVALID_OPTIONS when it cannot listen where the options say. */
  async listen(onConnection: (connection: CarriedConnection) => void): Promise<Listener> {
    const { host, port, path, maxFrameBytes, tls, connectTimeoutMs } = this.#options;
    // Who connects and does not say what for, or a byte a second of it, is not waited for.
    const patience = {
      headersTimeout: connectTimeoutMs,
      requestTimeout: connectTimeoutMs,
      connectionsCheckingInterval: Math.min(connectTimeoutMs, 1_000),
    };
    const server =
      tls?.cert === undefined
        ? createServer(patience)
        : createTlsServer({ ...patience, ...tls, handshakeTimeout: connectTimeoutMs });
    server.maxConnections = MAX_CONNECTIONS;
    const upgrader = new WebSocketServer({
      noServer: true,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
    });
    server.on('request', (_request, response) => {
      response.writeHead(426, { connection: 'close', upgrade: 'websocket' }).end();
    });
    server.on('upgrade', (request, stream: Duplex, head) => {
      const refusal = this.#refusalOf(request.url ?? '', request.headers.origin);
      stream.on('error', () => stream.destroy());
      if (refusal !== undefined)
        stream.end(`HTTP/1.1 ${refusal} ${STATUS_TEXT[refusal]}\r\nconnection: close\r\n\r\n`);
      else
        upgrader.handleUpgrade(request, stream, head, (webSocket) =>
          onConnection(this.#open(webSocket, stream as Socket)),
        );
    });
    await listening(server, port, host);
    const { port: bound } = server.address() as AddressInfo;
    const shownHost = host.includes(':') ? `[${host}]` : host;
    const listener = {
      address: `${tls?.cert === undefined ? 'ws' : 'wss'}://${shownHost}:${bound}${path}`,
      close: async () => {
        if (!this.#listeners.delete(listener)) return;
        server.close();
        server.closeAllConnections();
      },
    };
    this.#listeners.add(listener);
    return listener;
  }

  /** Takes no more connections, and ends those that are open. */
  async close(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.close()));
    await Promise.all([...this.#ends].map((end) => end.close()));
  }

  #refusalOf(url: string, origin: string | undefined): keyof typeof STATUS_TEXT | undefined {
    if (url.split('?', 1)[0] !== this.#options.path) return 404;
    // Any web page could reach a listener on this machine otherwise.
    if (origin !== undefined && !this.#options.origins.includes(origin)) return 403;
    return undefined;
  }

  #open(webSocket: WebSocket, socket: Socket): CarriedConnection {
    const end = new CarriedConnection((user) => new WebSocketCarrier(webSocket, socket, user), {
      maxFrameBytes: this.maxFrameBytes,
      clock: systemClock,
      onOver: (over) => this.#ends.delete(over),
    });
    this.#ends.add(end);
    return end;
  }
}

const listening = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(invalidOptions('webSocket.port', port, `a port of ${host} that is free (${reasonOf(error)})`)),
    );
    server.listen(port, host, resolve);
  });
