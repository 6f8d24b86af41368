import type { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';

/**
 * - `pending`   nobody has it yet, and somebody may still take it.
 * - `accepted`  `acceptedBy` has it, and knows. It stays so after the assignment has ended.
 * - `rejected`  by everybody who was asked, or withdrawn; `rejectionReason` says why.
 * - `timed-out` nobody took it within the deadline.
 */
export type ProposalStatus = 'pending' | 'accepted' | 'rejected' | 'timed-out';

/**
 * One proposal, as one side of it sees it (seed 1); the last four fields go beyond the seed.
 *
 * - `deadlineMs`            how long answers are waited for.
 * - `rejectionReason`       a reason code: of the last one who declined; at an agent that was asked, why it has not got it;
 *                           of an assignment that is over, why.
 * - `alternativeSuggestion` another agent that whoever declined has named.
 * - `estimatedCompletionMs` how long the work will take, as `acceptedBy` thinks.
 * - `epoch`                 which assignment of this proposal it is: 1 at first.
 * - `isHeld`                `acceptedBy` has the task now, as far as this side knows.
 * - `proposedAtMs`          Unix milliseconds, when it was proposed or came in.
 */
export interface TaskProposal {
  readonly proposalId: string;
  readonly taskDescription: string;
  readonly requiredCapabilities: readonly string[];
  readonly estimatedComplexity: TaskProposalPayload['estimatedComplexity'];
  readonly deadlineMs: number;
  readonly proposerAgentId: string;
  readonly status: ProposalStatus;
  readonly acceptedBy?: string;
  readonly rejectionReason?: string;
  readonly alternativeSuggestion?: string;
  readonly correlationId: string;
  readonly estimatedCompletionMs?: number;
  readonly epoch?: number;
  readonly isHeld: boolean;
  readonly proposedAtMs: number;
}
