import { fromCallback } from 'xstate';
import { type Answered, answersTo, declinedBy } from './choice.ts';
import { lostAnswer } from './lost-answer.ts';
import { proposalTimeoutMs, type RunScope } from './run-scope.ts';
import type { ProposalOrder } from './task.machine.ts';
import type { TaskEvent } from './task-context.ts';

/**
 * The actor of a task that is proposed: proposes it to the assigned agent. It stops when the task's machine leaves the state.
 */
export const proposeTask = (run: RunScope) =>
  fromCallback<TaskEvent, ProposalOrder>(({ input, sendBack }) => {
    const left = new AbortController();
    void proposal(run, input, left.signal).then(sendBack);
    return () => left.abort();
  });

/**
 * Proposes the task; resolves to the event for the decision. An agent that declines may name another, which is asked as well,
 * so the task may go to another agent, or be declined by several.
 */
async function proposal(run: RunScope, { item, to }: ProposalOrder, signal: AbortSignal): Promise<TaskEvent> {
  const { clock, team } = run;
  try {
    const proposed = await team.loop.negotiator.propose(
      {
        taskDescription: item.title,
        requiredCapabilities: [item.capability],
        estimatedComplexity: 'medium',
        deadlineMs: proposalTimeoutMs(run),
      },
      { to: to.agent, correlationId: item.correlationId, signal },
    );
    const { status, acceptedBy, proposalId } = proposed;
    const answers = answersTo(to.agent, proposed, team.loop.negotiator.getRecord(proposalId));
    if (status === 'accepted' && acceptedBy !== undefined) {
      const place = acceptedBy === to.agent ? to.place : await placeOf(run, acceptedBy);
      const by = { agent: acceptedBy, place };
      return {
        type: 'proposal.accepted',
        by,
        proposalId,
        answers,
        why: `${acceptedBy} took it on`,
        atMs: clock.now(),
      };
    }
    return declined(answers);
  } catch (error) {
    return declined([declinedBy(to.agent, lostAnswer(error))]);
  }
}

/** Of those who say none. */
const REASONS = { accepted: 'GIVEN_BACK', declined: 'REJECTED', 'timed-out': 'PROPOSAL_TIMEOUT' } as const;

function declined(answers: readonly Answered[]): TaskEvent {
  const by = answers.map(({ agent, said, reason = REASONS[said] }) => ({ agent, reason }));
  return {
    type: 'proposal.declined',
    by,
    answers,
    why: by.map(({ agent, reason }) => `${agent} did not take it on: ${reason}`).join('; '),
  };
}

async function placeOf({ team }: RunScope, agent: string): Promise<string> {
  const roster = await team.roster();
  return roster.find(({ id }) => id === agent)?.place ?? 'unknown';
}
