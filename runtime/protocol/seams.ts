/**
 * The time that a system lives in. The system clock is the only implementation outside a simulation.
 *
 * - `now()` Unix milliseconds.
 * - `monotonicMs()` milliseconds with fractions, never going back; for measuring.
 * - `setTimer(delayMs, fire)` calls `fire` once and returns the function that cancels it. A timer never keeps the
 *   process alive.
 */
export interface Clock {
  now(): number;
  monotonicMs(): number;
  setTimer(delayMs: number, fire: () => void): () => void;
}

/** A number in [0, 1). */
export type Random = () => number;

/** An identifier that no other call, in any thread, returns. */
export type NewId = () => string;

/** What every part that needs time, ids or chance is given. */
export interface Seams {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: Random;
}
