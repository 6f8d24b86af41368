import {
  retryDelayMs,
  type WatchedEvent,
  type WatchMessage,
  WatchReader,
  type WatchState,
} from '../model/index.ts';

/** How the connection to a team is. `reason` is a sentence. */
export type StreamStatus =
  | { readonly state: 'connecting' | 'connected' | 'wrong-token' | 'may-not-watch' | 'stopped' }
  | { readonly state: 'reconnecting'; readonly reason: string; readonly attempt: number };

export interface WatchStreamDeps {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  /** Calls back after so many milliseconds; returns what takes it back. */
  readonly setTimer: (callback: () => void, ms: number) => () => void;
  readonly onStatus: (status: StreamStatus) => void;
  /** `isFirst` of a connection: what happened before it was not told, but for the last of it. */
  readonly onState: (state: WatchState, isFirst: boolean) => void;
  readonly onEvents: (events: readonly WatchedEvent[]) => void;
}

/** The server says something at least every five seconds: silence of this length is a lost connection. */
const SILENCE_MS = 20_000;

/** Says who asks; whoever has no token says nothing, which is enough where everybody may watch. */
export const proofOf = (token: string): { readonly authorization?: string } =>
  token === '' ? {} : { authorization: `Bearer ${token}` };

/** The live stream of a team, connected anew whenever it is lost, until it is stopped or refused. */
export class WatchStream {
  readonly #token: string;
  readonly #deps: WatchStreamDeps;
  #abort = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #cancelSilence: (() => void) | undefined;
  #attempt = 0;
  #isStopped = false;
  #isFresh = true;

  constructor(token: string, deps: WatchStreamDeps) {
    this.#token = token;
    this.#deps = deps;
  }

  start(): void {
    this.#deps.onStatus({ state: 'connecting' });
    void this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    this.#abort.abort();
    this.#cancelTimer?.();
    this.#cancelSilence?.();
    this.#deps.onStatus({ state: 'stopped' });
  }

  async #connect(): Promise<void> {
    this.#abort = new AbortController();
    this.#isFresh = true;
    try {
      const response = await this.#deps.fetch('/watch/events', {
        headers: { ...proofOf(this.#token), accept: 'text/event-stream' },
        signal: this.#abort.signal,
        cache: 'no-store',
      });
      if (this.#isRefused(response)) return;
      if (!response.ok || response.body === null) throw new Error(`the server answered ${response.status}`);
      await this.#read(response.body);
      this.#again('the other side closed the connection');
    } catch (error) {
      this.#again(error instanceof Error ? error.message : String(error));
    }
  }

  #isRefused(response: Response): boolean {
    const state =
      response.status === 401 ? 'wrong-token' : response.status === 403 ? 'may-not-watch' : undefined;
    if (state === undefined) return false;
    this.#isStopped = true;
    this.#deps.onStatus({ state });
    return true;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const messages = new WatchReader();
    const reader = body.getReader();
    for (;;) {
      this.#listen();
      const { done, value } = await reader.read();
      if (done) return;
      for (const message of messages.push(value)) this.#take(message);
    }
  }

  /** Ends a connection on which nothing has come for too long. */
  #listen(): void {
    this.#cancelSilence?.();
    this.#cancelSilence = this.#deps.setTimer(
      () => this.#abort.abort(new Error('nothing has come for 20 seconds')),
      SILENCE_MS,
    );
  }

  #take(message: WatchMessage): void {
    if (message.kind === 'events') return this.#deps.onEvents(message.events);
    this.#attempt = 0;
    const isFirst = this.#isFresh;
    this.#isFresh = false;
    if (isFirst) this.#deps.onStatus({ state: 'connected' });
    this.#deps.onState(message.state, isFirst);
  }

  #again(reason: string): void {
    this.#cancelSilence?.();
    if (this.#isStopped) return;
    this.#attempt += 1;
    this.#deps.onStatus({ state: 'reconnecting', reason, attempt: this.#attempt });
    this.#cancelTimer = this.#deps.setTimer(() => void this.#connect(), retryDelayMs(this.#attempt));
  }
}
