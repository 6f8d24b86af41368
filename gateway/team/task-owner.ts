import type { Principal } from '../../runtime/protocol/principal.ts';
import type { TaskOwner } from '../../runtime/protocol/task-service.ts';

/** Whose the tasks are that a caller has begun, in whichever protocol. */
export const taskOwnerOf = ({ id, tenant }: Principal): TaskOwner => ({
  principalId: id,
  ...(tenant === undefined ? {} : { tenant }),
});
