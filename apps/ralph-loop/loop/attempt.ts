import { ERROR_CODES } from 'orrery';
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
 * - `code`        of the error, if the answer was lost.
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
