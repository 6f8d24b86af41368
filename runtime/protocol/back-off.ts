import { z } from 'zod';

/**
 * How long to wait before something is tried again.
 *
 * - `firstMs` the first wait.
 * - `maxMs`   no wait is longer.
 * - `factor`  each further wait is so many times longer.
 * - `jitter`  share of the wait, in [0, 1], that chance may take away. So agents that failed together do not return together.
 */
export const BackOff = z.strictObject({
  firstMs: z.number().positive().default(100),
  maxMs: z.number().positive().default(10_000),
  factor: z.number().min(1).default(2),
  jitter: z.number().min(0).max(1).default(0.5),
});
export type BackOff = z.infer<typeof BackOff>;
