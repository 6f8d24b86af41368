import type { AnswerEffect, ProposalRecord } from './proposal-record.ts';
import type { ProposerContext } from './proposer.machine.ts';

/** What somebody says to a proposal. */
interface Said {
  readonly agentId: string;
  readonly type: 'task-accept' | 'task-reject';
}

/** What an answer is to a proposal that stands like this: whether it counts, and why not. */
export function answerEffect(
  { asked, answers }: ProposalRecord,
  context: ProposerContext | undefined,
  said: Said,
): AnswerEffect {
  const { agentId, type } = said;
  if (!asked.includes(agentId)) return 'foreign';
  if (context !== undefined && countsIn(context, said)) return 'counted';
  const before = answers.filter((answer) => answer.agentId === agentId && answer.effect === 'counted');
  const last = before.at(-1)?.type;
  if (last === undefined) return 'late';
  if (last === type) return 'double';
  return last === 'task-reject' ? 'contradictory' : 'late';
}

function countsIn({ asked, willing, holder, isLate }: ProposerContext, { agentId, type }: Said): boolean {
  if (type === 'task-accept') return asked.includes(agentId) && !isLate;
  return asked.includes(agentId) || willing.includes(agentId) || holder === agentId;
}
