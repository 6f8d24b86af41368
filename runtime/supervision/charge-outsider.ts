import type { Random } from '../protocol/seams.ts';
import type { BackOff } from './back-off.ts';
import { backOffMs } from './back-off-ms.ts';
import { recordRestart } from './record-restart.ts';
import type { RestartIntensity } from './restart-intensity.ts';

/**
 * What one agent remembers of somebody outside over whose requests it has died, in milliseconds of the clock of `nowMs`.
 *
 * - `deaths`         newest first, as far as they lie in the window.
 * - `refusals`       in a row.
 * - `refusedUntilMs` 0 before the first.
 */
export interface OutsiderRecord {
  readonly deaths: readonly number[];
  readonly refusals: number;
  readonly refusedUntilMs: number;
}

export const NO_RECORD: OutsiderRecord = { deaths: [], refusals: 0, refusedUntilMs: 0 };

/** How much somebody outside may break, and for how long they are refused then: longer each time. */
export interface OutsiderLimits {
  readonly intensity: RestartIntensity;
  readonly refusal: BackOff;
}

/**
 * Charges a death to somebody outside. Beyond the intensity they are refused for `refuseForMs`; when that is over they are let
 * in again, and within one window of it the first death refuses them again.
 */
export function chargeOutsider(
  record: OutsiderRecord,
  nowMs: number,
  { intensity, refusal }: OutsiderLimits,
  random: Random,
): { readonly record: OutsiderRecord; readonly refuseForMs: number | undefined } {
  const former = isForgotten(record, nowMs, intensity) ? NO_RECORD : record;
  const { restarts: deaths, exceeded } = recordRestart(former.deaths, nowMs, intensity);
  // What was under way when they were refused says nothing new.
  if (nowMs < former.refusedUntilMs || (!exceeded && former.refusals === 0))
    return { record: { ...former, deaths: bounded(deaths, intensity) }, refuseForMs: undefined };
  const refusals = former.refusals + 1;
  const refuseForMs = backOffMs(refusal, refusals, random);
  const refusedUntilMs = nowMs + refuseForMs;
  return { record: { deaths: bounded(deaths, intensity), refusals, refusedUntilMs }, refuseForMs };
}

/** Says whether a whole window has passed since the last death and the end of the last refusal. */
export function isForgotten(
  { deaths, refusedUntilMs }: OutsiderRecord,
  nowMs: number,
  { withinMs }: RestartIntensity,
): boolean {
  return nowMs - Math.max(refusedUntilMs, deaths[0] ?? 0) > withinMs;
}

const bounded = (deaths: readonly number[], { maxRestarts }: RestartIntensity): readonly number[] =>
  deaths.slice(0, maxRestarts + 1);
