import type { ErrorCode } from '../../runtime/protocol/errors.ts';
import type { TaskProposal } from './task-proposal.ts';

/**
 * What happened to a proposal.
 *
 * - of the proposer's: `proposed`, then `accepted`, `rejected` or `timed-out`; `answer-ignored` for an answer without
 *   effect; `ended` when whoever had it has it no more.
 * - of an agent that was asked: `received`, then `assigned` and `ended`, or `declined`, `refused` or `expired`.
 */
export type NegotiationEventType =
  | 'proposed'
  | 'accepted'
  | 'rejected'
  | 'timed-out'
  | 'answer-ignored'
  | 'received'
  | 'declined'
  | 'refused'
  | 'expired'
  | 'assigned'
  | 'ended';

/**
 * - `agentId`   the other side, where it is one: who answered, has it, or proposed.
 * - `reason`    a reason code.
 * - `errorCode` PROPOSAL_TIMEOUT, of `timed-out`.
 */
export interface NegotiationEvent {
  readonly type: NegotiationEventType;
  readonly proposal: TaskProposal;
  readonly timestamp: number;
  readonly agentId?: string;
  readonly reason?: string;
  readonly errorCode?: ErrorCode;
}

/** The event as a sentence. */
export function sentenceOf({ type, proposal, agentId, reason }: NegotiationEvent): string {
  const by = agentId === undefined ? '' : `: ${agentId}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  return `The proposal ${proposal.proposalId} of ${proposal.proposerAgentId} is ${type}${by}${why}`;
}
