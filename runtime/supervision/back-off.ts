import { z } from 'zod';

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
