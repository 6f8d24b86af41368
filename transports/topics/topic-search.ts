import { reasonOf } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** Before the second search, milliseconds. The wait doubles from one to the next. */
const FIRST_WAIT_MS = 1_000;
/** An end that so many searches in a row have not found is forgotten. */
const SEARCHES_UNTIL_GONE = 3;

/**
 * - `maxFound` how many ends are remembered.
 * - `searchMs` the longest wait between two searches, milliseconds.
 */
export interface TopicLimits {
  readonly maxFound: number;
  readonly searchMs: number;
}

/** Who is told: of each end, as `TopicTransport` says, and when this one has left. */
export interface TopicUser {
  onFound(address: string): void;
  onLeft(): void;
}

/**
 * - `announceMs` how long an announcement holds, milliseconds.
 * - `announce`   announces this end. What it finds meanwhile counts too. Resolves with false when nobody took it.
 * - `search`     calls `found` with the address of each end that is there now.
 * - `onFound`    told of each end, as `TopicTransport` says.
 */
export interface TopicSearchDeps {
  readonly clock: Clock;
  readonly limits: TopicLimits;
  readonly announceMs: number;
  announce(found: (address: string) => void, signal: AbortSignal): Promise<boolean>;
  search(found: (address: string) => void, signal: AbortSignal): Promise<void>;
  onFound(address: string): void;
}

interface FoundEnd {
  isTold: boolean;
  /** Searches in a row that have not found it. */
  missed: number;
}

/** Announces an end and searches for others, again and again, and remembers whom it has told of. */
export class TopicSearch {
  readonly #deps: TopicSearchDeps;
  readonly #ends = new Map<string, FoundEnd>();
  readonly #stopped = new AbortController();
  #seen = new Set<string>();
  #announcedAtMs: number | undefined;
  #waitMs = FIRST_WAIT_MS;
  #dueAtMs = 0;
  #cancelTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;
  #trouble: string | undefined;

  constructor(deps: TopicSearchDeps) {
    this.#deps = deps;
  }

  /** Why the last announcement or search failed. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  get isAnnounced(): boolean {
    return this.#announcedAtMs !== undefined;
  }

  /** Resolves after the first announcement. */
  async start(): Promise<void> {
    const announced = Promise.withResolvers<void>();
    this.#round = this.#go(announced.resolve);
    await announced.promise;
  }

  /** An end shows itself between two searches. One that was told of, and lost, waits for the next search. */
  show(address: string): void {
    if (!this.#ends.has(address)) this.#find(address);
  }

  /** The end is told of again when a search finds it. */
  forget(address: string): void {
    const end = this.#ends.get(address);
    if (end === undefined || !end.isTold) return;
    end.isTold = false;
    this.soon();
  }

  /** The announcement holds no more. */
  renew(): void {
    this.#announcedAtMs = undefined;
    this.soon();
  }

  /** Searches in a second at the latest. */
  soon(): void {
    this.#waitMs = FIRST_WAIT_MS;
    const { clock } = this.#deps;
    if (this.#cancelTimer !== undefined && this.#dueAtMs > clock.monotonicMs() + FIRST_WAIT_MS)
      this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    await this.#round;
  }

  async #go(announced: () => void): Promise<void> {
    const { signal } = this.#stopped;
    const found = (address: string): void => this.#find(address);
    this.#seen = new Set();
    try {
      await this.#announce(found, signal);
      announced();
      await this.#deps.search(found, signal);
      this.#trouble = undefined;
      this.#dropMissing();
    } catch (error) {
      this.#trouble = reasonOf(error);
    } finally {
      announced();
    }
    if (!signal.aborted) this.#schedule();
  }

  async #announce(found: (address: string) => void, signal: AbortSignal): Promise<void> {
    const { announceMs, clock } = this.#deps;
    const atMs = clock.monotonicMs();
    if (this.#announcedAtMs !== undefined && atMs - this.#announcedAtMs < announceMs) return;
    this.#announcedAtMs = (await this.#deps.announce(found, signal)) ? atMs : undefined;
  }

  #schedule(): void {
    const { clock, limits, announceMs } = this.#deps;
    // An announcement is renewed by the search after its time.
    const waitMs = Math.min(this.#waitMs, limits.searchMs, announceMs);
    this.#waitMs = 2 * waitMs;
    this.#dueAtMs = clock.monotonicMs() + waitMs;
    this.#cancelTimer?.();
    this.#cancelTimer = clock.setTimer(waitMs, () => {
      this.#cancelTimer = undefined;
      this.#round = this.#go(() => undefined);
    });
  }

  #find(address: string): void {
    if (this.#stopped.signal.aborted) return;
    let end = this.#ends.get(address);
    if (end === undefined) {
      if (this.#ends.size >= this.#deps.limits.maxFound) return;
      end = { isTold: false, missed: 0 };
      this.#ends.set(address, end);
    }
    this.#seen.add(address);
    end.missed = 0;
    if (end.isTold) return;
    end.isTold = true;
    queueMicrotask(() => {
      if (!this.#stopped.signal.aborted) this.#deps.onFound(address);
    });
  }

  #dropMissing(): void {
    for (const [address, end] of this.#ends) {
      if (this.#seen.has(address)) continue;
      end.missed += 1;
      if (end.missed >= SEARCHES_UNTIL_GONE) this.#ends.delete(address);
    }
  }
}
