import { z } from 'zod';
import type { Random } from './seams.ts';

/**
 * How long is waited before something is tried again.
 *
 * - `firstMs` the first wait.
 * - `maxMs`   no wait is longer.
 * - `factor`  each further wait is so many times longer.
 * - `jitter`  share of the wait, in [0, 1], that chance may take away, so that those who failed together do not come back
 *             together.
 */
export const BackOff = z.strictObject({
  firstMs: z.number().positive().default(100),
  maxMs: z.number().positive().default(10_000),
  factor: z.number().min(1).default(2),
  jitter: z.number().min(0).max(1).default(0.5),
});
export type BackOff = z.infer<typeof BackOff>;

/** The wait in milliseconds after `failures` in a row; 0 when there were none. */
export function backOffMs(
  { firstMs, maxMs, factor, jitter }: BackOff,
  failures: number,
  random: Random,
): number {
  if (failures <= 0) return 0;
  const wait = Math.min(maxMs, firstMs * factor ** (failures - 1));
  return wait * (1 - jitter * random());
}
