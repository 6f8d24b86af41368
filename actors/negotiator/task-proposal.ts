import { z } from 'zod';
import { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';

/**
 * - `pending`   nobody has it yet, and somebody may still take it.
 * - `accepted`  `acceptedBy` has it, and knows. It stays so after the assignment has ended.
 * - `rejected`  by everybody who was asked, or withdrawn; `rejectionReason` says why.
 * - `timed-out` nobody took it within the deadline.
 */
export const ProposalStatus = z.enum(['pending', 'accepted', 'rejected', 'timed-out']);
export type ProposalStatus = z.infer<typeof ProposalStatus>;

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
export const TaskProposal = z
  .object({
    proposalId: z.string().min(1),
    taskDescription: z.string(),
    requiredCapabilities: z.array(z.string()).readonly(),
    estimatedComplexity: TaskProposalPayload.shape.estimatedComplexity,
    deadlineMs: z.number().positive(),
    proposerAgentId: z.string().min(1),
    status: ProposalStatus,
    acceptedBy: z.string().exactOptional(),
    rejectionReason: z.string().exactOptional(),
    alternativeSuggestion: z.string().exactOptional(),
    correlationId: z.string().min(1),
    estimatedCompletionMs: z.number().exactOptional(),
    epoch: z.int().exactOptional(),
    isHeld: z.boolean(),
    proposedAtMs: z.number(),
  })
  .readonly();
export type TaskProposal = z.infer<typeof TaskProposal>;
