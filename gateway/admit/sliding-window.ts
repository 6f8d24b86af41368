import { z } from 'zod';
import type { AdmissionRule } from '../../runtime/protocol/admission.ts';
import type { Verdict } from '../../runtime/protocol/policy.ts';
import { parseOptions, requireMethod } from '../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** `requests` of one principal in any `windowMs`. @default 20 in a minute */
const Options = z.strictObject({
  requests: z.int().positive().default(20),
  windowMs: z.number().positive().default(60_000),
});
export type SlidingWindowOptions = z.input<typeof Options>;

/**
 * At most so many requests of one principal in any stretch of time, exactly: RATE_LIMITED, with the time until the next one
 * is let in. Refused ones do not count. Who is anonymous shares one window with all who are.
 *
 * Fails with INVALID_OPTIONS.
 */
export function slidingWindow(
  options: SlidingWindowOptions,
  deps: { clock: Pick<Clock, 'monotonicMs'> },
): AdmissionRule {
  requireMethod('slidingWindow.clock', deps?.clock, 'monotonicMs', 'a clock, such as that of systemSeams()');
  const { clock } = deps;
  const { requests, windowMs } = parseOptions(Options, options, 'slidingWindow');
  const books = new Map<string, number[]>();
  let sweptAtMs = clock.monotonicMs();
  /** Whoever has not come for a whole window has left nothing to count. */
  const sweep = (nowMs: number): void => {
    if (nowMs - sweptAtMs < windowMs) return;
    sweptAtMs = nowMs;
    for (const [id, times] of books) if ((times.at(-1) as number) <= nowMs - windowMs) books.delete(id);
  };
  return {
    name: 'rate-limit',
    admit: ({ id }): Verdict | undefined => {
      const nowMs = clock.monotonicMs();
      sweep(nowMs);
      const recent = (books.get(id) ?? []).filter((time) => time > nowMs - windowMs);
      books.set(id, recent);
      const [oldest] = recent;
      if (oldest === undefined || recent.length < requests) {
        recent.push(nowMs);
        return undefined;
      }
      const retryAfterMs = Math.ceil(oldest + windowMs - nowMs);
      return {
        code: 'RATE_LIMITED',
        reason: `more than ${requests} requests in ${windowMs} ms`,
        retryAfterMs,
      };
    },
  };
}
