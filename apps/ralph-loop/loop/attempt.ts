import { ERROR_CODES } from 'orrery';
import { CodingUsage } from 'orrery/coding';
import { z } from 'zod';

/** The agent that works at a task, and its place. */
export const Assignee = z.object({ agent: z.string(), place: z.string() });
export type Assignee = z.infer<typeof Assignee>;

/**
 * An attempt at a task, from the request to an agent until its answer is judged or lost.
 *
 * - `startedAtMs` Unix milliseconds.
 * - `durationMs`  time of the agent; `gateMs` time of the gate, if it was asked.
 * - `ended`       `nothing` if there was nothing to read; `accepted` or `refused` by the gate; `malformed` if the answer was
 *                 no task result; `lost` without an answer; `unjudged` if the gate was unreachable; `cancelled` if the
 *                 mission ended first.
 * - `usage`       what its agent has used, as far as it tells.
 * - `code`        of the error, if the answer was lost.
 */
export const Attempt = Assignee.extend({
  number: z.int().positive(),
  startedAtMs: z.number(),
  durationMs: z.number().nonnegative(),
  gateMs: z.number().nonnegative().optional(),
  ended: z.enum(['nothing', 'accepted', 'refused', 'malformed', 'lost', 'unjudged', 'cancelled']),
  usage: CodingUsage.optional(),
  code: z.enum(ERROR_CODES).optional(),
  reason: z.string().optional(),
});
export type Attempt = z.infer<typeof Attempt>;
