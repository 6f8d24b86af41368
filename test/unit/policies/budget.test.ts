import { describe, expect, it } from 'vitest';
import { budget } from '../../../policies/budget.ts';
import type { Budget } from '../../../runtime/protocol/budget.ts';
import { codeOf, requestOf } from './judge-request.ts';

describe('budget', () => {
  it('allows what has no budget, and what has something left of it', () => {
    expect(codeOf(budget(), {})).toBeUndefined();
    expect(codeOf(budget(), { budget: {} })).toBeUndefined();
    expect(codeOf(budget(), { budget: { tokens: 1, costUsd: 0.000001, hops: 0 } })).toBeUndefined();
  });

  it.each([{ tokens: 0 }, { tokens: 5, costUsd: 0 }])('refuses work on %j with BUDGET_EXCEEDED', (left) => {
    for (const type of ['request', 'task-proposal', 'stream-start'] as const)
      expect(codeOf(budget(), { type, budget: left })).toBe('BUDGET_EXCEEDED');
  });

  it('lets those who have spent everything say so', () => {
    for (const type of ['notification', 'response', 'error', 'stream-end', 'task-reject'] as const)
      expect(codeOf(budget(), { type, budget: { tokens: 0 } })).toBeUndefined();
  });

  it.each([
    [{ tokens: -1 }, 'metadata.budget.tokens'],
    [{ tokens: 1.5 }, 'metadata.budget.tokens'],
    [{ costUsd: Number.NaN }, 'metadata.budget.costUsd'],
    [{ hops: '1' }, 'metadata.budget.hops'],
    [{ euros: 1 }, 'metadata.budget.euros'],
    ['all', 'metadata.budget'],
  ])('refuses %j, which is no budget, naming its field', (given, field) => {
    for (const type of ['request', 'notification'] as const) {
      const verdict = budget().judge(requestOf({ type, budget: given as Budget }));
      expect(verdict?.code).toBe('INVALID_ENVELOPE');
      expect(verdict?.reason).toContain(`${field} is `);
    }
  });
});
