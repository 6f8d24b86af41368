import type { Clock } from '../../runtime/protocol/seams.ts';
import type { SystemEvent } from '../../runtime/protocol/system-event.ts';
import { StreamSample } from '../../runtime/protocol/stream-sample.ts';
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
  /** A batch has begun, and will be ready soon. */
  #isBegun = false;
  #isReady = false;
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
    this.#ready();
  }

  showEvent(event: SystemEvent): void {
    if (this.#isClosed) return;
    if (this.#events.length >= MAX_HELD || !this.#takes(event)) this.#leftOut += event.count ?? 1;
    else this.#events.push(event);
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#clock.setTimer(BATCH_MS, () => this.#ready());
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#ready();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchMessage> {
    try {
      while (!this.#isClosed) {
        if (this.#isReady) yield* this.#taken();
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
      yield* this.#taken();
    } finally {
      this.close();
    }
  }

  #ready(): void {
    this.#isReady = true;
    this.#wake();
  }

  *#taken(): Generator<WatchMessage> {
    const [state, events] = [this.#state, this.#events];
    this.#state = undefined;
    this.#isReady = false;
    this.#isBegun = false;
    if (this.#leftOut > 0) {
      const timestamp = this.#clock.now();
      events.push({ type: 'events-left-out', timestamp, place: 'gateway', count: this.#leftOut });
    }
    this.#events = [];
    this.#leftOut = 0;
    if (state !== undefined) yield { event: 'state', data: state };
    if (events.length > 0) yield { event: 'events', data: events };
  }

  #takes(event: SystemEvent): boolean {
    const { type, security } = event;
    const isRare =
      security === true || type === 'dead-letter' || type === 'error' || type === 'events-left-out';
    return this.#sample.takesEvent(event, isRare);
  }
}
