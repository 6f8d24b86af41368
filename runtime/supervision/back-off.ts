import { z } from 'zod';
import type { Random } from '../protocol/seams.ts';

/**
 * How long a supervisor waits before it restarts an agent again.
 *
 * - `firstMs` the wait before the second restart in a row; the first restart is immediate.
 * - `maxMs`   no wait is longer.
 * - `factor`  each further wait is so many times longer.
 * - `jitter`  share of the wait, in [0, 1], that chance may take away, so that agents that died together do not return
 *             together.
 */
export const BackOff = z.strictObject({
  firstMs: z.number().positive().default(100),
  maxMs: z.number().positive().default(10_000),
  factor: z.number().min(1).default(2),
  jitter: z.number().min(0).max(1).default(0.5),
});
export type BackOff = z.infer<typeof BackOff>;

/** The wait in milliseconds before a restart that `consecutive` others directly preceded; 0 when there were none. */
export function backOffMs(
  { firstMs, maxMs, factor, jitter }: BackOff,
  consecutive: number,
  random: Random,
): number {
  if (consecutive <= 0) return 0;
  const wait = Math.min(maxMs, firstMs * factor ** (consecutive - 1));
  return wait * (1 - jitter * random());
}
