import type { Random } from '../protocol/seams.ts';
import type { BackOff } from './back-off.ts';
import { backOffMs } from './back-off-ms.ts';
import type { RestartIntensity } from './restart-intensity.ts';

/**
 * What a group remembers of having been given up, in milliseconds of the clock of `nowMs`.
 *
 * - `givenUp`   times in a row.
 * - `triedAtMs` when it was last tried again.
 */
export interface Attempts {
  readonly givenUp: number;
  readonly triedAtMs: number | undefined;
}

/** When a group that is given up at `nowMs` is tried again: later each time, unless it ran for a whole window in between. */
export function planTrial(
  { givenUp, triedAtMs }: Attempts,
  nowMs: number,
  { intensity, halfOpen }: { readonly intensity: RestartIntensity; readonly halfOpen: BackOff },
  random: Random,
): { readonly givenUp: number; readonly afterMs: number } {
  const isInRow = triedAtMs !== undefined && nowMs - triedAtMs <= intensity.withinMs;
  const times = isInRow ? givenUp + 1 : 1;
  return { givenUp: times, afterMs: backOffMs(halfOpen, times, random) };
}

/** The record of a group on trial: it has had all restarts that it may have, so that one more death gives it up again. */
export const restartsOnTrial = (nowMs: number, { maxRestarts }: RestartIntensity): readonly number[] =>
  Array.from({ length: maxRestarts }, () => nowMs);
