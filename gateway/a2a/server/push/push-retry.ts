import { backOffMs } from '../../../../runtime/protocol/back-off-ms.ts';
import type { Random } from '../../../../runtime/protocol/seams.ts';

/** The result of an attempt. `refused`: nothing was sent, because the receiver may not be called. */
export type PushOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs?: number }
  | { readonly kind: 'gone'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * How long what was not acknowledged is tried again.
 *
 * - `attempts`  at one piece of news.
 * - `ageMs`     since the first attempt that failed.
 * - `firstMs`   the first wait, at most; each is twice the one before, and none longer than `longestMs`.
 */
export interface RetryLimits {
  readonly attempts: number;
  readonly ageMs: number;
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The result for an HTTP status: 410 means never again, any other than 2xx that it was not taken. */
export function outcomeOf(status: number, retryAfterMs?: number): PushOutcome {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const reason = `The receiver answered ${status}`;
  if (status === 410) return { kind: 'gone', reason };
  return { kind: 'failed', reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

interface Failing {
  readonly attempt: number;
  readonly failingForMs: number;
  readonly random: Random;
}

/**
 * How long to wait before the next attempt, in milliseconds; undefined: there is none. The wait grows with each, and is
 * chance between half of it and the whole, so that those who failed together do not come back together.
 */
export function waitBeforeNext(
  outcome: Exclude<PushOutcome, { kind: 'taken' }>,
  { attempt, failingForMs, random }: Failing,
  { attempts, ageMs, firstMs, longestMs }: RetryLimits,
): number | undefined {
  if (outcome.kind !== 'failed' || attempt >= attempts) return undefined;
  const backOff = { firstMs, maxMs: longestMs, factor: 2, jitter: 0.5 };
  const waitMs = Math.max(
    backOffMs(backOff, attempt, random),
    Math.min(outcome.retryAfterMs ?? 0, longestMs),
  );
  return failingForMs + waitMs > ageMs ? undefined : waitMs;
}
