/** Questions that are remembered at most, each of which nobody could answer. */
const CAPACITY = 10_000;

/** What was lately looked up in vain, so that whoever asks for it in a loop does not have it looked up in a loop. */
export class RecentMisses {
  readonly #forMs: number;
  readonly #untilMs = new Map<string, number>();

  /** @param forMs how long each is remembered */
  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  /** `nowMs`, here and below, goes up. */
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
