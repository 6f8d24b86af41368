import { z } from 'zod';
import { SwarmFault, SwarmStatus } from './swarm-session.ts';

const About = { swarmId: z.string() };

/**
 * What a coordinator tells of its own accord, as the payload of a notification.
 *
 * - `swarm.state`     the shared state has changed: `subTaskId` is the key, the value can be read.
 * - `swarm.escalated` a sub-task failed for good and nobody is left to do it. To the owner.
 * - `swarm.withdrawn` the agent's assignment was taken away: what it still sends is late. To that agent.
 * - `swarm.ended`     with the outcome, to the owner; without, to the participants.
 */
export const SwarmNotice = z.discriminatedUnion('kind', [
  z.object({
    ...About,
    kind: z.literal('swarm.state'),
    status: SwarmStatus,
    stateVersion: z.int().nonnegative(),
    subTaskId: z.string(),
  }),
  z.object({ ...About, kind: z.literal('swarm.escalated'), subTaskId: z.string(), error: SwarmFault }),
  z.object({
    ...About,
    kind: z.literal('swarm.withdrawn'),
    subTaskId: z.string(),
    epoch: z.int(),
    reason: z.string(),
  }),
  z.object({
    ...About,
    kind: z.literal('swarm.ended'),
    status: SwarmStatus,
    outcome: z.unknown().optional(),
  }),
]);
export type SwarmNotice = z.infer<typeof SwarmNotice>;
