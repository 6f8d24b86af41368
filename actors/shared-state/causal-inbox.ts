import type { CausalClock, CausalPlace } from './causal-clock.ts';
import type { SyncMessage } from './sync-message.ts';

/** What became of an update. `dropped`: messages that were dropped to make room, the longest waiting first. */
export interface Arrival {
  readonly place: CausalPlace;
  readonly dropped: readonly SyncMessage[];
}

/** Puts updates into causal order: each comes out after everything that its source had applied before it. */
export class CausalInbox {
  readonly #clock: CausalClock;
  readonly #bounds: { readonly maxMessages: number; readonly maxBytes: number };
  readonly #gaps = new Map<string, GapQueue>();

  constructor(clock: CausalClock, bounds: { readonly maxMessages: number; readonly maxBytes: number }) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** A `waiting` message is kept and comes out of `next`; a `ready` one is the caller's to apply. */
  arrive(message: SyncMessage): Arrival {
    const place = this.#clock.place(message);
    if (place !== 'waiting') return { place, dropped: [] };
    const gap = this.#gapOf(message.sourceAgentId);
    if (gap.has(message.vectorClock[message.sourceAgentId] ?? 0)) return { place: 'duplicate', dropped: [] };
    return { place, dropped: gap.hold(message) };
  }

  /** Takes out a message that can be applied now. Messages that a state has covered are dropped silently. */
  next(): SyncMessage | undefined {
    for (const gap of this.#gaps.values()) {
      for (;;) {
        const message = gap.takeFirst((held) => this.#clock.place(held) !== 'waiting');
        if (message === undefined) break;
        if (this.#clock.place(message) === 'ready') return message;
      }
    }
    return undefined;
  }

  /** How many messages of the source wait. */
  waitingOf(agentId: string): number {
    return this.#gaps.get(agentId)?.size ?? 0;
  }

  /** How many messages wait, of all sources. */
  get size(): number {
    return [...this.#gaps.values()].reduce((sum, gap) => sum + gap.size, 0);
  }

  /** Payload bytes and headers that wait, of all sources. */
  get bytes(): number {
    return [...this.#gaps.values()].reduce((sum, gap) => sum + gap.bytes, 0);
  }

  /** Drops what waits of the source. */
  forget(agentId: string): void {
    this.#gaps.delete(agentId);
  }

  clear(): void {
    this.#gaps.clear();
  }

  #gapOf(agentId: string): GapQueue {
    const gap = this.#gaps.get(agentId) ?? new GapQueue(this.#bounds);
    this.#gaps.set(agentId, gap);
    return gap;
  }
}

/** The size of a waiting message's header, by estimate. */
const HEADER_BYTES = 512;

/** Updates of one source that wait for what comes before them, bounded in count and bytes. */
export class GapQueue {
  readonly #maxMessages: number;
  readonly #maxBytes: number;
  /** By their source's count, in the order of arrival. */
  readonly #waiting = new Map<number, SyncMessage>();
  #bytes = 0;

  constructor({ maxMessages, maxBytes }: { readonly maxMessages: number; readonly maxBytes: number }) {
    this.#maxMessages = maxMessages;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(count: number): boolean {
    return this.#waiting.has(count);
  }

  /** Keeps the message; returns those that were dropped for it, the longest waiting first. */
  hold(message: SyncMessage): SyncMessage[] {
    const count = countOf(message);
    if (this.#waiting.has(count)) return [];
    this.#waiting.set(count, message);
    this.#bytes += weightOf(message);
    const dropped: SyncMessage[] = [];
    for (const oldest of this.#waiting.values()) {
      if (this.#waiting.size <= this.#maxMessages && this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
      dropped.push(oldest);
    }
    return dropped;
  }

  /** Takes out the first message that `fits`. */
  takeFirst(fits: (message: SyncMessage) => boolean): SyncMessage | undefined {
    for (const message of this.#waiting.values()) {
      if (!fits(message)) continue;
      this.#remove(message);
      return message;
    }
    return undefined;
  }

  #remove(message: SyncMessage): void {
    this.#waiting.delete(countOf(message));
    this.#bytes -= weightOf(message);
  }
}

const countOf = ({ vectorClock, sourceAgentId }: SyncMessage): number => vectorClock[sourceAgentId] ?? 0;

const weightOf = ({ payload }: SyncMessage): number => payload.length + HEADER_BYTES;
