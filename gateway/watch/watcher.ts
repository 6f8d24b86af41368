import type { Clock } from '../../runtime/protocol/seams.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import { StreamSample } from '../../runtime/observe/stream-sample.ts';
import type { WatchState } from './watch-state.ts';

/** What a watcher is sent. */
export type WatchMessage =
  | { readonly event: 'state'; readonly data: WatchState }
  | { readonly event: 'events'; readonly data: readonly SystemEvent[] };

/** Events that wait for a watcher at most. One that reads slower than they come is told how many it has missed. */
const MAX_HELD = 20_000;
/** Events go together, this many milliseconds after the first of them. */
const BATCH_MS = 50;

/** Somebody who watches: what there is for them, until they take it. */
export class Watcher implements AsyncIterable<WatchMessage> {
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly #sample: StreamSample;
  readonly #onClose: () => void;
  #state: WatchState | undefined;
  #events: SystemEvent[] = [];
  #leftOut = 0;
  #isDue = false;
  #isClosed = false;
  #wake = (): void => undefined;

  constructor(clock: Pick<Clock, 'now' | 'setTimer'>, eventsPerSecond: number, onClose: () => void) {
    this.#clock = clock;
    this.#sample = new StreamSample(eventsPerSecond);
    this.#onClose = onClose;
  }

  /** The newest state replaces one that was not taken; what its first one tells of the past stays. */
  showState(state: WatchState): void {
    const recent = state.recent ?? this.#state?.recent;
    this.#state = recent === undefined ? state : { ...state, recent };
    this.#wake();
  }

  showEvent(event: SystemEvent): void {
    if (this.#isClosed) return;
    if (this.#events.length >= MAX_HELD || !this.#takes(event)) this.#leftOut += event.count ?? 1;
    else this.#events.push(event);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.setTimer(BATCH_MS, () => this.#wake());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchMessage> {
    try {
      for (;;) {
        yield* this.#taken();
        if (this.#isClosed) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        if (this.#state === undefined) await promise;
      }
    } finally {
      this.close();
    }
  }

  *#taken(): Generator<WatchMessage> {
    const state = this.#state;
    this.#state = undefined;
    if (state !== undefined) yield { event: 'state', data: state };
    const events = this.#events;
    this.#isDue = false;
    if (this.#leftOut > 0) {
      const timestamp = this.#clock.now();
      events.push({ type: 'events-left-out', timestamp, place: 'gateway', count: this.#leftOut });
    }
    this.#events = [];
    this.#leftOut = 0;
    if (events.length > 0) yield { event: 'events', data: events };
  }

  #takes({ type, correlationId, actorId, agentId, timestamp, security }: SystemEvent): boolean {
    const isRare =
      security === true || type === 'dead-letter' || type === 'error' || type === 'events-left-out';
    return isRare
      ? this.#sample.takesRare(timestamp)
      : this.#sample.takes(correlationId ?? actorId ?? agentId ?? type, timestamp);
  }
}
