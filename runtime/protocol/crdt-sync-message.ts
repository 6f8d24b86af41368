import { z } from 'zod';

/**
 * One update of shared state on its way to the other agents (seed 1).
 *
 * - `vectorClock` how many updates of each agent the source had seen, its own included.
 * - `operationId` names the update, so that a second delivery is recognised.
 * - `timestamp`   Unix milliseconds.
 */
export const CRDTSyncMessage = z.object({
  sourceAgentId: z.string(),
  vectorClock: z.record(z.string(), z.number()),
  payload: z.unknown(),
  timestamp: z.number(),
  operationId: z.string().optional(),
});
export type CRDTSyncMessage = z.infer<typeof CRDTSyncMessage>;
