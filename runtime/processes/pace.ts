/** What the code may be given to do ahead, milliseconds of it, and in envelopes. */
const AHEAD_MS = 2;
const MAX_AHEAD = 64;
/** How quickly the mean follows. */
const SHARE = 0.2;

/** How quickly a process goes through its envelopes, as a decayed mean of what each took; unknown before the first. */
export class Pace {
  #meanMs = Number.POSITIVE_INFINITY;
  #lastDoneAtMs = 0;

  /** An envelope that was given then is done now; before the last one was, its turn had not come. */
  done(givenAtMs: number, nowMs: number): void {
    const tookMs = nowMs - Math.max(givenAtMs, this.#lastDoneAtMs);
    this.#lastDoneAtMs = nowMs;
    if (this.#meanMs === Number.POSITIVE_INFINITY) this.#meanMs = tookMs;
    else this.#meanMs += (tookMs - this.#meanMs) * SHARE;
  }

  /** How many it may be given ahead: what it does in a moment. */
  get ahead(): number {
    return Math.min(MAX_AHEAD, Math.floor(AHEAD_MS / this.#meanMs));
  }
}
