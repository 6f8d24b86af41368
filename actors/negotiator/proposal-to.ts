import type { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';
import type { Outgoing } from '../../runtime/public.ts';
import type { TaskProposal } from './task-proposal.ts';

/** The proposal as it goes to one agent. */
export function proposalTo(
  recipient: string,
  proposal: TaskProposal,
  justification: string | undefined,
): Outgoing {
  const { proposalId, taskDescription, requiredCapabilities, estimatedComplexity, deadlineMs } = proposal;
  const why = justification === undefined ? {} : { escalationJustification: justification };
  const payload: TaskProposalPayload & { proposalId: string } = {
    proposalId,
    taskDescription,
    requiredCapabilities: [...requiredCapabilities],
    estimatedComplexity,
    deadlineMs,
    ...why,
  };
  return {
    recipient,
    type: 'task-proposal',
    payload,
    deadlineAtMs: proposal.proposedAtMs + deadlineMs,
    expectsReply: true,
    ...(justification === undefined ? {} : { justification }),
  };
}
