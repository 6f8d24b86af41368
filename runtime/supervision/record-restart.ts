import type { RestartIntensity } from './restart-intensity.ts';

/**
 * Records a restart at `nowMs` and says whether the supervisor must give up.
 *
 * `restarts` is newest first, in milliseconds of the clock that `nowMs` is from, and is not mutated. The sliding window
 * is OTP's (`add_restart` in supervisor.erl).
 */
export function recordRestart(
  restarts: readonly number[],
  nowMs: number,
  { maxRestarts, withinMs }: RestartIntensity,
): { readonly restarts: readonly number[]; readonly exceeded: boolean } {
  const recent = [nowMs, ...restarts.filter((at) => at >= nowMs - withinMs)];
  return { restarts: recent, exceeded: recent.length > maxRestarts };
}
