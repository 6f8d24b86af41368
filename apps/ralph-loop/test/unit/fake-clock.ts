import type { Clock } from 'orrery';

/** Time that moves only when a test says so; timers fire in the order of their time. */
export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  #timers: { atMs: number; fire: () => void }[] = [];

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (let next = this.#nextBy(untilMs); next !== undefined; next = this.#nextBy(untilMs)) {
      this.#nowMs = next.atMs;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      next.fire();
    }
    this.#nowMs = untilMs;
  }

  #nextBy(untilMs: number) {
    return this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
  }
}
