import { retryDelayMs, type WatchedEvent, WatchReader, type WatchState } from '@orrery/visualiser/model';
import type { Clock } from 'orrery';

/** Where a team is served, and the token for it, if it needs one. */
export interface WatchTarget {
  readonly url: string;
  readonly token: string | undefined;
}

/** How the connection stands. */
export type LinkStatus =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly why: string; readonly retryAtMs: number };

/** Who takes what a team tells. */
export interface WatchSink {
  state(state: WatchState): void;
  events(events: readonly WatchedEvent[]): void;
  linked(status: LinkStatus): void;
}

/**
 * - `target` where to connect to, asked for anew before each try: a team that was started again has another token.
 * - `fetch`  the global one, except in tests.
 */
export interface WatchLinkDeps {
  readonly target: () => WatchTarget;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly sink: WatchSink;
}

/** The team is there, and does not let us watch: no later try would help. */
export class WatchRefused extends Error {
  readonly code = 'WATCH_REFUSED';

  constructor(message: string) {
    super(message);
    this.name = 'WatchRefused';
  }
}

/** The team says something at least every ten seconds. */
const SILENCE_MS = 30_000;

/** A connection to a team that is watched, which is made again when it is lost. */
export class WatchLink {
  readonly #deps: WatchLinkDeps;

  constructor(deps: WatchLinkDeps) {
    this.#deps = deps;
  }

  /** Watches until `signal` aborts. Rejects with WatchRefused if the team does not let us. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, sink } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      sink.linked({ kind: 'connecting' });
      let why = 'the team ended the connection';
      try {
        await this.#watch(signal, () => {
          failures = 0;
          sink.linked({ kind: 'live' });
        });
      } catch (error) {
        if (error instanceof WatchRefused) throw error;
        why = reasonOf(error);
      }
      if (signal.aborted) return;
      failures += 1;
      const delayMs = retryDelayMs(failures);
      sink.linked({ kind: 'lost', why, retryAtMs: clock.now() + delayMs });
      if (!signal.aborted) await this.#pause(delayMs, signal);
    }
  }

  async #watch(signal: AbortSignal, onLive: () => void): Promise<void> {
    const { sink } = this.#deps;
    using silence = new Silence(this.#deps.clock, SILENCE_MS);
    const response = await this.#open(AbortSignal.any([signal, silence.signal]));
    const reader = new WatchReader();
    let isLive = false;
    for await (const chunk of response.body ?? []) {
      silence.heard();
      for (const message of reader.push(chunk as Uint8Array)) {
        if (message.kind === 'events') {
          sink.events(message.events);
          continue;
        }
        if (!isLive) onLive();
        isLive = true;
        sink.state(message.state);
      }
    }
  }

  async #open(signal: AbortSignal): Promise<Response> {
    const { url, token } = this.#deps.target();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await this.#deps.fetch(`${url}/watch/events`, { headers, signal });
    if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    await response.body?.cancel();
    throw refusalOf(response.status, url, token !== undefined);
  }

  async #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.setTimer(delayMs, resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    cancel();
  }
}

function refusalOf(status: number, url: string, hasToken: boolean): Error {
  if (status === 401)
    return new WatchRefused(
      hasToken
        ? `The token is wrong: ${url} does not know it`
        : `${url} needs a token, and there is none for it`,
    );
  if (status === 403) return new WatchRefused(`${url} knows the token, and does not let its owner watch`);
  if (status === 404 || status === 200) return new WatchRefused(`${url} is no team that can be watched`);
  return new Error(`it answers with ${status}`);
}

/** Aborts when nothing was heard for too long. */
class Silence implements Disposable {
  readonly #clock: Clock;
  readonly #mostMs: number;
  readonly #stop = new AbortController();
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, mostMs: number) {
    this.#clock = clock;
    this.#mostMs = mostMs;
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  heard(): void {
    this.#cancel();
    this.#cancel = this.#clock.setTimer(this.#mostMs, () =>
      this.#stop.abort(new Error(`nothing was heard for ${this.#mostMs / 1_000} s`)),
    );
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}

/** `fetch failed` says nothing: its cause does. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & {
    readonly cause?: { readonly code?: string; readonly message?: string };
  };
  if (cause?.code === 'ECONNREFUSED') return 'nobody listens there';
  return cause?.message ?? cause?.code ?? message;
}
