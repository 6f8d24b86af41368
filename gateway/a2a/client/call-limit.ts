import {
  cancelled,
  deadlineExceeded,
  invalidOptions,
  isOrreryError,
} from '../../../runtime/protocol/errors.ts';
import { MAX_TIMER_MS } from '../../../runtime/protocol/milliseconds.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';

/** The time limit of one call. `signal` aborts when it is over; `reasonFor` gives the error that the call fails with then. */
export interface CallLimit {
  readonly signal: AbortSignal;
  reasonFor(error: unknown): unknown;
  end(): void;
}

/**
 * Ends a call when its caller's signal aborts (CANCELLED), or after `timeoutMs` (DEADLINE_EXCEEDED), `MAX_TIMER_MS` at most.
 * Throws INVALID_OPTIONS if `timeoutMs` is no number.
 */
export function callLimit(
  origin: string,
  {
    signal: outer,
    timeoutMs,
  }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number | undefined },
  clock: Pick<Clock, 'setTimer'>,
): CallLimit {
  if (timeoutMs !== undefined && (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs)))
    throw invalidOptions('timeoutMs', timeoutMs, 'a number of milliseconds');
  const controller = new AbortController();
  let isLate = false;
  const abort = (): void => controller.abort();
  const late = (): void => {
    isLate = true;
    abort();
  };
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  const waitMs = Math.min(Math.max(1, timeoutMs ?? 0), MAX_TIMER_MS);
  const stopTimer = timeoutMs === undefined ? () => undefined : clock.setTimer(waitMs, late);
  const what = `The call of ${origin}`;
  return {
    signal: controller.signal,
    reasonFor: (error) => {
      if (!isOrreryError(error) || error.code !== 'CANCELLED') return error;
      return isLate ? deadlineExceeded(what, timeoutMs ?? 0) : cancelled(what);
    },
    end: () => {
      stopTimer();
      outer?.removeEventListener('abort', abort);
    },
  };
}
