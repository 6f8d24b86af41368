import { type ErrorCode, OrreryError } from '../../runtime/protocol/errors.ts';
import { REASON } from './negotiation-message.ts';
import type { TaskProposal } from './proposal.ts';

const proposalTimedOut = (proposalId: string, deadlineMs: number): OrreryError =>
  new OrreryError('PROPOSAL_TIMEOUT', `The proposal ${proposalId} was not settled within ${deadlineMs} ms`, {
    details: { proposalId, deadlineMs },
  });

const proposalTaken = (proposalId: string): OrreryError =>
  new OrreryError('TAKEN', `The proposal ${proposalId} was accepted by another agent first`, {
    details: { proposalId },
  });

const proposalNotOurs = (proposalId: string, reason: string): OrreryError =>
  new OrreryError('REFUSED', `The proposal ${proposalId} is not this agent's: ${reason}`, {
    details: { proposalId, reason },
  });

/** Why an agent that accepts a proposal does not get it: TAKEN, PROPOSAL_TIMEOUT, or REFUSED with the reason code. */
export function notToBeHad({
  proposalId,
  deadlineMs,
  rejectionReason = REASON.notOpen,
}: TaskProposal): OrreryError {
  if (rejectionReason === REASON.taken) return proposalTaken(proposalId);
  const isTooLate = rejectionReason === REASON.timedOut || rejectionReason === REASON.unanswered;
  return isTooLate ? proposalTimedOut(proposalId, deadlineMs) : proposalNotOurs(proposalId, rejectionReason);
}

export const proposalUnknown = (proposalId: string, agentId: string): OrreryError =>
  new OrreryError('REFUSED', `${agentId} has got no proposal ${proposalId}`, {
    details: { proposalId, agentId },
  });

/** Says whether the same message may pass a little later: then it counts as lost, not as refused. */
export const mayPassLater = (code: ErrorCode | undefined): boolean =>
  code === 'MAILBOX_FULL' || code === 'NOT_HERE';
