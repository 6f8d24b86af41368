/** The most misses that are remembered. */
const CAPACITY = 10_000;

/** Lookups that found nobody lately. An agent that sends in a loop does not start a lookup each time. */
export class RecentMisses {
  readonly #forMs: number;
  readonly #untilMs = new Map<string, number>();

  /** @param forMs how long each is remembered */
  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  /** Remembers a miss. `nowMs` must not go back from call to call. */
  add(key: string, nowMs: number): void {
    this.#untilMs.delete(key);
    this.#untilMs.set(key, nowMs + this.#forMs);
    for (const [oldest, untilMs] of this.#untilMs) {
      if (untilMs > nowMs && this.#untilMs.size <= CAPACITY) return;
      this.#untilMs.delete(oldest);
    }
  }

  has(key: string, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(key);
    return untilMs !== undefined && nowMs < untilMs;
  }
}
