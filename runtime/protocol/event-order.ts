import type { Clock } from './seams.ts';
import type { SystemEvent } from './system-event.ts';

/**
 * How long an event is held back, milliseconds: what another thread tells later, and was before it, goes before it. A thread tells
 * what it has within 50, and a busy one takes some time besides.
 */
const HOLD_MS = 150;

/**
 * Puts the events of all threads into one order: those of one place stay as they came, an envelope is sent before it is
 * received, and else time decides. For that each is held back for a moment.
 *
 * What comes later than that goes behind what has gone already, by its place's order: nothing is left out.
 */
export class EventOrder {
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly #release: (event: SystemEvent) => void;
  readonly #holdMs: number;
  /** What is held of each place, oldest first. */
  readonly #held = new Map<string, PlaceQueue>();
  /** How many events of each envelope's sending are held. */
  readonly #sendings = new Map<string, number>();
  #cancel: (() => void) | undefined;

  constructor(
    clock: Pick<Clock, 'now' | 'setTimer'>,
    release: (event: SystemEvent) => void,
    holdMs = HOLD_MS,
  ) {
    this.#clock = clock;
    this.#holdMs = holdMs;
    this.#release = release;
  }

  add(event: SystemEvent): void {
    const { place = '' } = event;
    let queue = this.#held.get(place);
    if (queue === undefined) {
      queue = new PlaceQueue();
      this.#held.set(place, queue);
    }
    queue.push(event);
    const sent = sendingOf(event);
    if (sent !== undefined) this.#sendings.set(sent, (this.#sendings.get(sent) ?? 0) + 1);
    this.#cancel ??= this.#clock.setTimer(this.#holdMs, () => {
      this.#cancel = undefined;
      this.#releaseUntil(this.#clock.now() - this.#holdMs);
    });
  }

  /** Releases all that is held. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#releaseUntil(Number.POSITIVE_INFINITY);
  }

  #releaseUntil(untilMs: number): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (next.atMs > untilMs) break;
      const event = next.shift();
      this.#forget(event);
      this.#release(event);
    }
    for (const [place, queue] of this.#held) if (queue.head === undefined) this.#held.delete(place);
    if (this.#held.size === 0) return;
    this.#cancel ??= this.#clock.setTimer(this.#holdMs / 2, () => {
      this.#cancel = undefined;
      this.#releaseUntil(this.#clock.now() - this.#holdMs);
    });
  }

  /** The place whose first event is the oldest of those that need not wait for a sending. */
  #next(): PlaceQueue | undefined {
    let next: PlaceQueue | undefined;
    let waiting: PlaceQueue | undefined;
    for (const queue of this.#held.values()) {
      const { head } = queue;
      if (head === undefined) continue;
      const isWaiting = this.#sendings.has(receivingOf(head) ?? '');
      if (isWaiting && (waiting === undefined || queue.atMs < waiting.atMs)) waiting = queue;
      if (!isWaiting && (next === undefined || queue.atMs < next.atMs)) next = queue;
    }
    // All wait for each other only where events tell of what cannot have been.
    return next ?? waiting;
  }

  #forget(event: SystemEvent): void {
    const sent = sendingOf(event);
    if (sent === undefined) return;
    const left = (this.#sendings.get(sent) ?? 1) - 1;
    if (left === 0) this.#sendings.delete(sent);
    else this.#sendings.set(sent, left);
  }
}

/** Which envelope's sending the event tells of: where it goes is part of that. */
const sendingOf = ({ type, envelopeId }: SystemEvent): string | undefined =>
  type === 'message-sent' || type === 'routing-decision' ? envelopeId : undefined;

/** Which envelope must have been sent before this. */
const receivingOf = ({ type, envelopeId }: SystemEvent): string | undefined =>
  type === 'message-received' || type === 'envelope-settled' ? envelopeId : undefined;

/** The events of one place. */
class PlaceQueue {
  readonly #events: SystemEvent[] = [];
  #first = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  #times: number[] = [];

  get head(): SystemEvent | undefined {
    return this.#events[this.#first];
  }

  /** When its first event was, as far as its place is concerned: never before the one before it. */
  get atMs(): number {
    return this.#times[this.#first] ?? Number.POSITIVE_INFINITY;
  }

  push(event: SystemEvent): void {
    this.#lastMs = Math.max(this.#lastMs, event.timestamp);
    this.#events.push(event);
    this.#times.push(this.#lastMs);
  }

  shift(): SystemEvent {
    const event = this.#events[this.#first] as SystemEvent;
    this.#first += 1;
    if (this.#first === this.#events.length) {
      this.#events.length = 0;
      this.#times.length = 0;
      this.#first = 0;
    }
    return event;
  }
}
