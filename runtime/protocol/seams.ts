import type { Tracer } from './tracer.ts';

/**
 * The clock of a system. Outside a simulation the system clock is the only implementation.
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
 * A source of ids `origin-serial`, with the serial in base 36. No other source has the same origin, and no serial is given twice.
 * Mail keeps origin and serial apart, and writes the id when somebody reads it.
 */
export interface IdSource {
  readonly origin: string;
  next(): number;
}

/**
 * Makes secrets: 128 random bits in 22 characters of base64url. An id can be guessed from the one before, and numbers of `Random`
 * follow from former ones; a secret cannot be guessed.
 */
export type NewSecret = () => string;

/** The seams of a thread: time, ids and chance, for every part that needs them, and who traces, if somebody does. */
export interface Seams {
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The next id of `ids`. */
  readonly newId: NewId;
  readonly newSecret: NewSecret;
  readonly random: Random;
  readonly tracer?: Tracer | undefined;
}

/**
 * The event loop of one thread: when deferred code runs.
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
