import { z } from 'zod';
import type { A2AEnvelope } from './envelope.ts';
import { Milliseconds } from './milliseconds.ts';

const Name = z.string().min(1).max(1_024);

/**
 * The assignment of a swarm that an envelope hands over in `metadata.swarm`, or a message of another system by our extension
 * (F-02): for agents that want to know.
 *
 * - `epoch`   how often the sub-task has been assigned: what a former epoch still says counts no more.
 * - `leaseMs` for how long it is given without a sign of life.
 */
export const AssignmentNote = z.object({
  swarmId: Name,
  subTaskId: Name,
  epoch: z.int().positive(),
  description: z.string(),
  requiredCapabilities: z.array(Name),
  leaseMs: Milliseconds,
});
export type AssignmentNote = z.infer<typeof AssignmentNote>;

/** The assignment that an envelope hands over; undefined when it hands none over. */
export function assignmentIn({ metadata }: Pick<A2AEnvelope, 'metadata'>): AssignmentNote | undefined {
  const note = metadata?.['swarm'];
  return note === undefined ? undefined : AssignmentNote.safeParse(note).data;
}
