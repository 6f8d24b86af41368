import { z } from 'zod';

/**
 * - `intervalMs` how often each thread is sampled.
 * - `stallMs`    how long a beat may stand still. A loop is found about `intervalMs` later at most.
 * - `hangMs`     after so long a starved thread is reported again, and an unanswered question asked again.
 */
export const WatchdogOptions = z.strictObject({
  intervalMs: z.number().positive().default(100),
  stallMs: z.number().positive().default(400),
  hangMs: z.number().positive().default(10_000),
});
export type WatchdogOptions = z.input<typeof WatchdogOptions>;
/** With their defaults. */
export type WatchdogLimits = z.output<typeof WatchdogOptions>;
