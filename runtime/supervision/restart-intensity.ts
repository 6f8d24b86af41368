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
