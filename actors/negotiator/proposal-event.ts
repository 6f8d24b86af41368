import type { ErrorCode } from '../../runtime/protocol/errors.ts';
import { warnOf } from '../../runtime/protocol/warn-of.ts';
import type { TaskProposal } from './proposal.ts';

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

/** Calls a user's listener; what it throws, or rejects with, is a warning of the process and ends nothing. */
export function callListener<Arg>(listener: (arg: Arg) => unknown, arg: Arg): void {
  const warn = (error: unknown): void => warnOf('A listener of a negotiator failed', error);
  try {
    const result = listener(arg);
    if (result instanceof Promise) result.catch(warn);
  } catch (error) {
    warn(error);
  }
}
