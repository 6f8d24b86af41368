import { z } from 'zod';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';

/** What a `task-proposal` carries; the id is absent where the proposer does not speak this protocol. */
export const ProposalMessage = TaskProposalPayload.extend({
  deadlineMs: Milliseconds,
  proposalId: z.string().min(1).optional(),
});
export type ProposalMessage = z.infer<typeof ProposalMessage>;

/**
 * What a `task-accept` of an agent that was asked carries: it takes the task on; or, with an `epoch`, it knows that it has
 * the task, and still wants it.
 *
 * - `round` counts what it says so about one proposal. Absent where it does not speak this protocol: then it has the task
 *           by saying so.
 */
export const AcceptanceMessage = TaskProposalPayload.pick({ estimatedCompletionMs: true }).extend({
  proposalId: z.string().min(1).optional(),
  acceptedBy: z.string().optional(),
  round: z.int().nonnegative().optional(),
  epoch: z.int().positive().optional(),
});
export type AcceptanceMessage = z.infer<typeof AcceptanceMessage>;

/**
 * What a `task-accept` of the proposer carries: the agent has the task, for `leaseMs` from when it sent the acceptance of
 * this `round`.
 *
 * - `epoch` which assignment of the proposal this is, 1 at first.
 * - `round` absent in the answer to an acceptance that had none; such an assignment has no end.
 */
export const AssignmentMessage = z.object({
  proposalId: z.string().min(1),
  acceptedBy: z.string(),
  epoch: z.int().positive(),
  leaseMs: Milliseconds,
  round: z.int().nonnegative().optional(),
});
export type AssignmentMessage = z.infer<typeof AssignmentMessage>;

/**
 * What a `task-reject` carries. Of an agent that was asked: it does not take the task, or gives it back. Of the proposer:
 * the agent does not get it, or has it no more.
 *
 * - `alternativeSuggestion` another agent that might.
 */
export const RejectionMessage = TaskProposalPayload.pick({ alternativeSuggestion: true }).extend({
  proposalId: z.string().min(1).optional(),
  rejectionReason: z.string().min(1).default('REJECTED'),
});
export type RejectionMessage = z.infer<typeof RejectionMessage>;

/** The reason codes that the protocol itself gives; agents give their own beside them. */
export const REASON = {
  /** Another agent has it. */
  taken: 'TAKEN',
  /** Nobody took it in time. */
  timedOut: 'TIMED_OUT',
  /** The proposer does not want it any more. */
  withdrawn: 'WITHDRAWN',
  /** It is done. */
  completed: 'COMPLETED',
  /** The agent lacks a required capability. */
  notCapable: 'NOT_CAPABLE',
  /** Its mailbox is nearly full. */
  busy: 'BUSY',
  /** Its handler declined with an error. */
  refused: 'REFUSED',
  /** The agent's actor or the proposer's has ended. */
  ended: 'AGENT_ENDED',
  /** Nothing was heard of the other side within the lease. */
  lapsed: 'LAPSED',
  /** It has taken far longer than was estimated. */
  overdue: 'OVERDUE',
  /** The acceptance was not answered. */
  unanswered: 'UNANSWERED',
  /** The agent has no such assignment: it does not know of it any more. */
  notHeld: 'NOT_HELD',
  /** The proposer knows no such proposal, or never asked this agent, or has had its refusal. */
  notOpen: 'NOT_OPEN',
} as const;
