import { describe, expect, it } from 'vitest';
import { pairedRatios, quantile, spreadOf } from '../../../bench/statistics.ts';

describe('spreadOf', () => {
  it('is the median and the quartiles of values in any order, interpolated', () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, lowerQuartile: 1.75, upperQuartile: 3.25 });
  });

  it('is the value itself of one', () => {
    expect(spreadOf([7])).toEqual({ median: 7, lowerQuartile: 7, upperQuartile: 7 });
  });

  it('leaves the values as they were', () => {
    const values = [3, 1, 2];
    spreadOf(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('quantile', () => {
  it('is NaN of no values', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('pairedRatios', () => {
  it('is taken inside each round, and leaves out rounds where one was missing', () => {
    expect(pairedRatios([10, undefined, 30, 40], [5, 5, undefined, 10])).toEqual([2, 4]);
  });
});
