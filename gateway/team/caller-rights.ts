import type { Principal } from '../../runtime/protocol/principal.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { TaskOwner } from '../../runtime/protocol/task-service.ts';

/** Whether what a caller says is untainted. */
export type Trusts = (principal: Principal) => boolean;

/**
 * Trusts users and services: the deployment has given them a key or a token. Does not trust agents, which may pass on what
 * others have told them, nor anonymous callers.
 */
export const trustsByDefault: Trusts = ({ kind }) => kind === 'user' || kind === 'service';

/** The taint of what a caller says over A2A; undefined for a trusted one. */
export const taintOfCaller = (principal: Principal, trusts: Trusts = trustsByDefault): Taint | undefined =>
  trusts(principal) ? undefined : [`a2a:${principal.id}`];

/** The owner of a caller's tasks, in every protocol. */
export const taskOwnerOf = ({ id, tenant }: Principal): TaskOwner => ({
  principalId: id,
  ...(tenant === undefined ? {} : { tenant }),
});
