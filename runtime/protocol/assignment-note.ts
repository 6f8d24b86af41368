import { z } from 'zod';
import type { A2AEnvelope } from './envelope.ts';
import { Milliseconds } from './milliseconds.ts';

const Name = z.string().min(1).max(1_024);

/**
 * The assignment of a swarm in an envelope's `metadata.swarm`, or in a message of another system by our extension (F-02).
 *
 * - `epoch`   how often the sub-task has been assigned. Reports of former epochs do not count.
 * - `leaseMs` how long the agent has it without a sign of life.
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

/** The assignment in an envelope; undefined if there is none. */
export function assignmentIn({ metadata }: Pick<A2AEnvelope, 'metadata'>): AssignmentNote | undefined {
  const note = metadata?.['swarm'];
  return note === undefined ? undefined : AssignmentNote.safeParse(note).data;
}
