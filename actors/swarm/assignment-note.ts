import { z } from 'zod';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import type { WorkOrder } from './swarm-reach.ts';

/** What the envelope of an assignment says of it, in `metadata.swarm`: for agents that want to know. */
export const AssignmentNote = z.object({
  swarmId: z.string(),
  subTaskId: z.string(),
  epoch: z.int().positive(),
  description: z.string(),
  requiredCapabilities: z.array(z.string()),
  leaseMs: z.number(),
});
export type AssignmentNote = z.infer<typeof AssignmentNote>;

export const noteOf = ({
  swarmId,
  subTaskId,
  epoch,
  description,
  requiredCapabilities,
  leaseMs,
}: WorkOrder): AssignmentNote => ({
  swarmId,
  subTaskId,
  epoch,
  description,
  requiredCapabilities: [...requiredCapabilities],
  leaseMs,
});

/** The assignment that an envelope hands over; undefined when it hands none over. */
export function assignmentIn({ metadata }: Pick<A2AEnvelope, 'metadata'>): AssignmentNote | undefined {
  const parsed = AssignmentNote.safeParse(metadata?.['swarm']);
  return parsed.success ? parsed.data : undefined;
}
