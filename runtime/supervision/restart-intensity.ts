import { z } from 'zod';

/**
 * How many restarts a group may need before its supervisor gives up.
 *
 * - `maxRestarts` restarts that are allowed within the window; 0 means that the first death is the last.
 * - `withinMs`    length of the sliding window.
 */
export const RestartIntensity = z.strictObject({
  maxRestarts: z.int().nonnegative().default(3),
  withinMs: z.number().positive().default(60_000),
});
export type RestartIntensity = z.infer<typeof RestartIntensity>;

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
