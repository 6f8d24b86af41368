import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgetOf, grantedAmounts, spentAmounts } from '../../../runtime/budget/amounts.ts';
import { Budget, narrower } from '../../../runtime/protocol/budget.ts';

describe('Amounts', () => {
  it.each([
    [0, 0],
    [0.29, 290_000],
    [1.1, 1_100_000],
    [0.1 + 0.2, 300_000],
    [0.000001, 1],
    [123.456789, 123_456_789],
    [1e8, 1e14],
  ])('count %d dollars as %d millionths, granted or spent', (costUsd, micros) => {
    expect(grantedAmounts({ costUsd })).toEqual({ tokens: undefined, micros });
    expect(spentAmounts({ costUsd })).toEqual({ tokens: undefined, micros });
  });

  it('grant no part of a millionth, and charge a whole one for it', () => {
    expect(grantedAmounts({ costUsd: 0.0000019 }).micros).toBe(1);
    expect(spentAmounts({ costUsd: 0.0000011 }).micros).toBe(2);
    expect(spentAmounts({ costUsd: 1e-12 }).micros).toBe(1);
    expect(grantedAmounts({ costUsd: 1e-12 }).micros).toBe(0);
  });

  it('say nothing of what is absent', () => {
    expect(grantedAmounts({})).toEqual({ tokens: undefined, micros: undefined });
    expect(budgetOf({})).toEqual({});
    expect(budgetOf({ tokens: 0 })).toEqual({ tokens: 0 });
  });

  it('never grant more than was said, nor charge less, and by less than a millionth', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e8, noNaN: true }), (costUsd) => {
        const granted = grantedAmounts({ costUsd }).micros as number;
        const spent = spentAmounts({ costUsd }).micros as number;
        const rounding = costUsd * 1e6 * 2 ** -49;
        expect(granted).toBeLessThanOrEqual(costUsd * 1e6 + rounding);
        expect(spent).toBeGreaterThanOrEqual(costUsd * 1e6 - rounding);
        expect(spent - granted).toBeLessThanOrEqual(1);
      }),
      { numRuns: 1_000 },
    );
  });

  it('give every whole number of millionths back as it was', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e14 }), (micros) => {
        const { costUsd = -1 } = budgetOf({ micros });
        expect(spentAmounts({ costUsd }).micros).toBe(micros);
        expect(grantedAmounts({ costUsd }).micros).toBe(micros);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('A budget', () => {
  it.each([
    ['tokens', -1],
    ['tokens', 0.5],
    ['tokens', Number.NaN],
    ['tokens', Number.POSITIVE_INFINITY],
    ['tokens', '5'],
    ['tokens', 2e14],
    ['costUsd', -0.01],
    ['costUsd', Number.NaN],
    ['costUsd', Number.POSITIVE_INFINITY],
    ['costUsd', 2e8],
    ['hops', -1],
    ['hops', 1.5],
    ['euros', 1],
  ])('is none with %s %s', (field, value) => {
    expect(Budget.safeParse({ [field]: value }).success).toBe(false);
  });

  it('is narrowed field by field', () => {
    expect(narrower({ tokens: 5, hops: 3 }, { tokens: 7, costUsd: 1, hops: 2 })).toEqual({
      tokens: 5,
      costUsd: 1,
      hops: 2,
    });
    expect(narrower(undefined, { hops: 0 })).toEqual({ hops: 0 });
    expect(narrower({ tokens: 0 }, undefined)).toEqual({ tokens: 0 });
    expect(narrower(undefined, undefined)).toBeUndefined();
  });
});
