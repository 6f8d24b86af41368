import type { Principal } from '../../runtime/protocol/principal.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { TaskOwner } from '../../runtime/protocol/task-service.ts';

/** Whether what a caller says is taken as if it had been said here. */
export type Trusts = (principal: Principal) => boolean;

/**
 * Whom a deployment has given a key or a token is its own: its users and services. What an agent says is not, whoever runs it:
 * that may be what somebody else has told it. Nor is what somebody says who has proved nothing.
 */
export const trustsByDefault: Trusts = ({ kind }) => kind === 'user' || kind === 'service';

/** Where what a caller says over A2A comes from; undefined for one that is trusted. */
export const taintOfCaller = (principal: Principal, trusts: Trusts = trustsByDefault): Taint | undefined =>
  trusts(principal) ? undefined : [`a2a:${principal.id}`];

/** Whose the tasks are that a caller has begun, in whichever protocol. */
export const taskOwnerOf = ({ id, tenant }: Principal): TaskOwner => ({
  principalId: id,
  ...(tenant === undefined ? {} : { tenant }),
});
