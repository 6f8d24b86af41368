import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plain,
} from 'node:http';
import { Agent as TlsAgent, request as overTls } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { remoteFailed, remoteUnreachable } from '../../../runtime/protocol/edge-errors.ts';
import { cancelled, type OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';

/**
 * - `idleMs`   how long nothing may arrive before the call is given up; each arrival starts the time anew.
 * - `maxBytes` of the whole answer.
 */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  readonly idleMs: number;
  readonly maxBytes: number;
}

/** An answer. `body` throws the error that the call fails with; to stop reading it ends the call. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Certificate authorities to trust, and the client's own certificate, as PEM. @default the authorities that Node knows */
export interface TlsTrust {
  readonly ca?: string | readonly string[] | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Makes HTTP calls. They end when nothing arrives for a while, read no more than `maxBytes`, and follow no redirect. Their errors
 * say whether the request may have arrived.
 *
 * They use `node:http`: `fetch` neither says whether a request was sent, nor takes a certificate authority.
 */
export class HttpCalls {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly #plain = new PlainAgent({ keepAlive: true });
  readonly #tls: TlsAgent;

  constructor({ ca, cert, key }: TlsTrust, clock: Pick<Clock, 'monotonicMs' | 'setTimer'>) {
    this.#clock = clock;
    this.#tls = new TlsAgent({
      keepAlive: true,
      ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  }

  /** Rejects with REMOTE_UNREACHABLE, REMOTE_FAILED on a redirect, and with CANCELLED. */
  call(call: HttpCall): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const { method, url, headers, body, signal } = call;
      if (signal?.aborted === true) {
        reject(cancelled(`The call of ${url.origin}`));
        return;
      }
      const isTls = url.protocol === 'https:';
      const request = (isTls ? overTls : plain)(url, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        agent: isTls ? this.#tls : this.#plain,
      });
      let mayHaveArrived = false;
      let failure: OrreryError | undefined;
      const fail = (error: OrreryError): void => {
        failure ??= error;
        request.destroy(error);
      };
      const watch = new IdleWatch(this.#clock, call.idleMs, () =>
        fail(remoteUnreachable(url.origin, `nothing came for ${call.idleMs} ms`, { mayHaveArrived })),
      );
      const abort = (): void => fail(cancelled(`The call of ${url.origin}`));
      signal?.addEventListener('abort', abort, { once: true });
      const failureOf = (error: unknown): OrreryError =>
        failure ?? remoteUnreachable(url.origin, whyOf(error), { mayHaveArrived, cause: error });
      const over = (): void => {
        watch.stop();
        signal?.removeEventListener('abort', abort);
      };
      request.on('socket', (socket) =>
        whenConnected(socket, isTls, request.reusedSocket, () => {
          mayHaveArrived = true;
        }),
      );
      request.on('error', (error) => {
        over();
        reject(failureOf(error));
      });
      request.on('response', (response) => {
        watch.touch();
        const { statusCode: status = 0 } = response;
        if (status >= 300 && status < 400 && status !== 304) {
          fail(remoteFailed(url.origin, `it redirects (${status}), which is not followed`, { status }));
          return;
        }
        resolve({
          status,
          headers: response.headers,
          body: bodyOf(response, call, { watch, over, failureOf }),
        });
      });
      request.end(body);
    });
  }

  /** Closes idle connections; calls under way go on. */
  close(): void {
    this.#plain.destroy();
    this.#tls.destroy();
  }
}

/** Calls `then` when the first byte of the request may have gone out: a new connection has to be there first. */
function whenConnected(socket: Socket, isTls: boolean, isReused: boolean, then: () => void): void {
  const isThere = isTls ? (socket as TLSSocket).authorized : !socket.connecting;
  if (isReused || isThere) then();
  else socket.once(isTls ? 'secureConnect' : 'connect', then);
}

async function* bodyOf(
  response: IncomingMessage,
  { url, maxBytes }: HttpCall,
  {
    watch,
    over,
    failureOf,
  }: {
    readonly watch: IdleWatch;
    readonly over: () => void;
    readonly failureOf: (error: unknown) => OrreryError;
  },
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxBytes)
        throw remoteFailed(url.origin, `its answer is larger than ${maxBytes} bytes`, { maxBytes });
      watch.pause();
      yield chunk;
      watch.touch();
    }
  } catch (error) {
    throw (error as OrreryError).code === 'REMOTE_FAILED' ? error : failureOf(error);
  } finally {
    over();
    response.destroy();
  }
}

/** The reason of a failure: the operating system's code if there is one, which gives nothing else away. */
function whyOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  const reason = reasonOf(error);
  return typeof code === 'string' && !reason.includes(code) ? `${reason} (${code})` : reason;
}

/** Fires when it was not touched for so long. It uses one timer, however often it is touched. */
class IdleWatch {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly #idleMs: number;
  readonly #fire: () => void;
  #lastMs: number;
  #isPaused = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'setTimer'>, idleMs: number, fire: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#fire = fire;
    this.#lastMs = clock.monotonicMs();
    this.#arm(idleMs);
  }

  touch(): void {
    this.#isPaused = false;
    this.#lastMs = this.#clock.monotonicMs();
  }

  /** Stops the time while the reader does not read: that is no fault of the other side. */
  pause(): void {
    this.#isPaused = true;
  }

  stop(): void {
    this.#cancel();
  }

  #arm(forMs: number): void {
    this.#cancel = this.#clock.setTimer(forMs, () => {
      const leftMs = this.#isPaused ? this.#idleMs : this.#lastMs + this.#idleMs - this.#clock.monotonicMs();
      if (leftMs > 0) this.#arm(Math.max(1, leftMs));
      else this.#fire();
    });
  }
}
