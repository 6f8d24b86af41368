import type { SwarmSubTask } from '../swarm-session.ts';

/** Under which assignment somebody reports. */
export interface Reporter {
  readonly agentId: string;
  readonly epoch: number;
}

/**
 * Whether a report counts: only one under the assignment that stands. Everything else is late, whatever it says: the
 * sub-task has been taken away, or has its result.
 */
export const counts = (
  { status, assignedAgent, epoch }: Pick<SwarmSubTask, 'status' | 'assignedAgent' | 'epoch'>,
  reporter: Reporter,
): boolean => status === 'running' && assignedAgent === reporter.agentId && epoch === reporter.epoch;

/** The epoch that an agent means which names none: that of its own latest assignment; undefined if it never had one. */
export const latestEpochOf = (
  { assignments }: Pick<SwarmSubTask, 'assignments'>,
  agentId: string,
): number | undefined => assignments.findLast((one) => one.agentId === agentId)?.epoch;
