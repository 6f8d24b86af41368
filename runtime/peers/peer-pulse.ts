import type { Clock } from '../protocol/seams.ts';

/** How long after an answer the other end is asked again. */
const EVERY_MS = 5_000;
/** How long an answer is awaited: a node that has much to say leaves it out. */
const LATE_MS = 60_000;
/** So many of the last round trips are looked at. */
const KEPT = 5;

export interface PeerPulseDeps {
  readonly clock: Clock;
  /** Asks the other end to answer with this number. */
  readonly ping: (n: number) => void;
}

/** Asks another node again and again whether it hears, one question at a time. So it knows how long a round trip takes. */
export class PeerPulse {
  readonly #deps: PeerPulseDeps;
  readonly #lastMs: number[] = [];
  #asked: { readonly n: number; readonly atMs: number } | undefined;
  #next = 0;
  #stop: () => void = () => undefined;

  constructor(deps: PeerPulseDeps) {
    this.#deps = deps;
  }

  /** The median of the last five round trips, milliseconds; undefined before the first. */
  get roundTripMs(): number | undefined {
    return [...this.#lastMs].sort((a, b) => a - b)[Math.floor(this.#lastMs.length / 2)];
  }

  start(): void {
    if (this.#next === 0) this.#ask();
  }

  /** The other end has answered. */
  answered(n: number): void {
    if (this.#asked?.n !== n) return;
    const { clock } = this.#deps;
    this.#stop();
    this.#lastMs.push(clock.monotonicMs() - this.#asked.atMs);
    if (this.#lastMs.length > KEPT) this.#lastMs.shift();
    this.#asked = undefined;
    this.#stop = clock.setTimer(EVERY_MS, () => this.#ask());
  }

  stop(): void {
    this.#asked = undefined;
    this.#stop();
  }

  #ask(): void {
    const n = this.#next++;
    const { clock, ping } = this.#deps;
    this.#asked = { n, atMs: clock.monotonicMs() };
    this.#stop = clock.setTimer(LATE_MS, () => this.#ask());
    ping(n);
  }
}
