import type { AssignmentNote } from '../../runtime/protocol/assignment-note.ts';
import type { WorkOrder } from './swarm-reach.ts';

/** What the envelope of an assignment says of it. */
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
