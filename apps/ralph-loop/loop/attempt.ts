import { ERROR_CODES } from 'orrery';
import { z } from 'zod';

/** Who works on a task, and in which thread. */
export const Assignee = z.object({ agent: z.string(), place: z.string() });
export type Assignee = z.infer<typeof Assignee>;

/**
 * One try at a task, from the moment an agent was asked until its answer was judged or lost.
 *
 * - `durationMs`  what the agent took; `gateMs` what the gate took on top, if it came to that.
 * - `ended`       `nothing` when there was nothing to look at, `accepted` or `refused` by the gate, `malformed` when the answer was no task result, `lost`
 *                 when no answer came, `unjudged` when the gate was out of reach, `cancelled` when the
 *                 mission ended first.
 * - `code`        of the error, when the answer was lost.
 */
export const Attempt = Assignee.extend({
  number: z.int().positive(),
  startedAtMs: z.number(),
  durationMs: z.number().nonnegative(),
  gateMs: z.number().nonnegative().optional(),
  ended: z.enum(['nothing', 'accepted', 'refused', 'malformed', 'lost', 'unjudged', 'cancelled']),
  code: z.enum(ERROR_CODES).optional(),
  reason: z.string().optional(),
});
export type Attempt = z.infer<typeof Attempt>;
