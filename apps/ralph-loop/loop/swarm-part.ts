import { z } from 'zod';

/**
 * A task in a swarm. Times are Unix milliseconds.
 *
 * - `id`           of the swarm.
 * - `assignments`  the agents that had it, oldest first. `end` is absent while the agent has it; `envelopeId` is of the
 *                  request.
 * - `lates`        reports that came too late to count.
 */
export const SwarmPart = z.strictObject({
  id: z.string(),
  assignments: z
    .array(
      z.strictObject({
        agent: z.string(),
        epoch: z.int().positive(),
        startedAtMs: z.number(),
        endedAtMs: z.number().optional(),
        envelopeId: z.string().optional(),
        end: z.string().optional(),
        error: z.string().optional(),
      }),
    )
    .readonly(),
  lates: z.int().nonnegative(),
});
export type SwarmPart = z.infer<typeof SwarmPart>;
