import { describe, expect, it } from 'vitest';
import { judge, judgeCounts } from '../../../bench/compare/verdict.ts';
import { around } from '../../fixtures/bench/bench-reports.ts';

const wild = [50, 150, 80, 120, 60, 140, 100, 95, 105, 70, 130];

describe('judge', () => {
  it('says better of more where more is better, and worse where less is', () => {
    expect(judge(around(100), around(120), 'more')).toMatchObject({ verdict: 'better', factor: 1.2 });
    const { verdict, factor } = judge(around(100), around(120), 'less');
    expect(verdict).toBe('worse');
    expect(factor).toBeCloseTo(1 / 1.2);
  });

  it('says same of what is within five in a hundred, even where the interval leaves 1 out', () => {
    const { verdict, interval } = judge(around(100), around(103), 'more');
    expect(interval?.low).toBeGreaterThan(1);
    expect(verdict).toBe('same');
  });

  it('says that it cannot say where the values vary more than they differ', () => {
    const { verdict, interval } = judge(
      wild,
      [...wild].map((value) => value * 1.1),
      'more',
    );
    expect(verdict).toBe('cannot say');
    expect(interval?.low).toBeLessThan(1);
    expect(interval?.high).toBeGreaterThan(1);
  });

  it('says that it cannot say of fewer than five values', () => {
    expect(judge([1, 1, 1, 1], [2, 2, 2, 2], 'more')).toEqual({ verdict: 'cannot say', factor: 2 });
    expect(judge([], [], 'more').verdict).toBe('cannot say');
  });

  it('says that it cannot say where nothing was measured before', () => {
    expect(judge(around(0), around(3), 'more').verdict).toBe('cannot say');
  });

  it('says the same of the same values each time', () => {
    expect(judge(wild, around(100), 'more')).toEqual(judge(wild, around(100), 'more'));
  });
});

describe('judgeCounts', () => {
  it('takes every difference of what was counted', () => {
    expect(judgeCounts([284], [284], 'less')).toEqual({ verdict: 'same', factor: 1 });
    expect(judgeCounts([284], [285], 'less').verdict).toBe('worse');
    expect(judgeCounts([284], [283], 'less').verdict).toBe('better');
  });
});
