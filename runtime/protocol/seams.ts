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

/**
 * What ids are made of: `origin-serial`, the serial in base 36. No other source has the same origin, and none gives a
 * serial twice. Whoever makes many ids keeps the two, and writes the id when somebody reads it.
 */
export interface IdSource {
  readonly origin: string;
  next(): number;
}

/**
 * 128 bits of chance in 22 characters of base64url: unlike an id, which whoever has seen the one before can guess, and
 * `Random`, whose next number follows from those before.
 */
export type NewSecret = () => string;

/** What every part that needs time, ids or chance is given. */
export interface Seams {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The next id of `ids`. */
  readonly newId: NewId;
  readonly newSecret: NewSecret;
  readonly random: Random;
}

/**
 * When things run in one thread.
 *
 * - `defer`      after the code that runs now, before anything else.
 * - `soon`       after the code that runs now and the promises that it settled, before the event loop turns.
 * - `yieldTurn`  when the event loop has had a turn.
 * - `listens`    how a thread waits for a message that is on its way: `awake` where the other threads run meanwhile,
 *                `asleep` where they need its core for that, `never` where it may not wait.
 */
export interface EventLoop {
  defer(run: () => void): void;
  soon(run: () => void): void;
  yieldTurn(run: () => void): void;
  readonly listens: 'awake' | 'asleep' | 'never';
}
