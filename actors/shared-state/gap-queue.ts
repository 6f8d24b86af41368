import type { SyncMessage } from './sync-message.ts';

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
