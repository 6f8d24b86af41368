import {
  DELEGATION_URI,
  DelegationOrder,
  type RemoteAssignment,
} from '../../runtime/protocol/a2a-extension.ts';
import type { TaskMessage } from '../../runtime/protocol/task.ts';

const orderIn = ({ metadata }: TaskMessage): DelegationOrder | undefined =>
  DelegationOrder.safeParse(metadata?.[DELEGATION_URI]).data;

/** The assignment that another system's message hands over, as its agent finds that of a swarm here. */
export function assignmentIn(message: TaskMessage): { readonly swarm?: RemoteAssignment } {
  const assignment = orderIn(message)?.assignment;
  return assignment === undefined ? {} : { swarm: assignment };
}

/** What an attempt elsewhere has kept of the work, as another system's message says it. */
export function resumedIn(message: TaskMessage): { readonly resumeFrom?: unknown } {
  const resumeFrom = orderIn(message)?.resumeFrom;
  return resumeFrom === undefined ? {} : { resumeFrom };
}
