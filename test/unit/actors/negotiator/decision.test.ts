import { describe, expect, it } from 'vitest';
import { decideByCard } from '../../../../actors/negotiator/decision.ts';
import type { TaskProposal } from '../../../../actors/negotiator/proposal.ts';

const proposal = (
  requiredCapabilities: string[],
  estimatedComplexity: TaskProposal['estimatedComplexity'] = 'medium',
) => ({ requiredCapabilities, estimatedComplexity }) as unknown as TaskProposal;

const agent = (waiting: number, capacity = 10) => ({
  capabilities: ['a', 'b'],
  mailbox: { waiting, capacity },
});

describe('What is decided for an agent that says nothing', () => {
  it('is to take on what it has all capabilities for', () => {
    expect(decideByCard(proposal(['a', 'b']), agent(0))).toEqual({
      isTakenOn: true,
      estimatedCompletionMs: 10_000,
    });
    expect(decideByCard(proposal([]), agent(0))).toMatchObject({ isTakenOn: true });
    expect(decideByCard(proposal(['a', 'c']), agent(0))).toMatchObject({
      isTakenOn: false,
      reason: 'NOT_CAPABLE',
    });
  });

  it('is to decline while its mailbox is nearly full', () => {
    const decisions = [0, 7, 8, 9, 10].map(
      (waiting) => decideByCard(proposal(['a']), agent(waiting)).isTakenOn,
    );
    expect(decisions).toEqual([true, true, true, false, false]);
    expect(decideByCard(proposal(['a']), agent(9))).toMatchObject({ reason: 'BUSY' });
  });

  it('estimates by the kind of task and by what waits before it', () => {
    const estimate = (kind: TaskProposal['estimatedComplexity'], waiting: number) =>
      decideByCard(proposal(['a'], kind), agent(waiting));
    expect(estimate('simple', 0)).toMatchObject({ estimatedCompletionMs: 1_000 });
    expect(estimate('complex', 2)).toMatchObject({ estimatedCompletionMs: 180_000 });
  });
});
