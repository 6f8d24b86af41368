import { describe, expect, it } from 'vitest';
import { CALIBRATION_JOBS } from '../../../bench/machine/calibration-jobs.ts';
import { speedChange, speedIndex } from '../../../bench/machine/calibration.ts';
import { doubtsOf } from '../../../bench/results/doubts.ts';
import { benchReport, calibratedAt } from '../../fixtures/bench/bench-reports.ts';

const rates = Object.fromEntries(Object.keys(CALIBRATION_JOBS).map((job) => [job, 5_000]));

describe('speedIndex', () => {
  it('knows a reference of every job', () => {
    expect(speedIndex(rates)).toBeGreaterThan(0);
  });

  it('doubles where every job is done twice as fast, and less where one is', () => {
    const twice = Object.fromEntries(Object.entries(rates).map(([job, rate]) => [job, 2 * rate]));
    expect(speedIndex(twice) / speedIndex(rates)).toBeCloseTo(2);
    const once = speedIndex({ ...rates, json: 10_000 }) / speedIndex(rates);
    expect(once).toBeCloseTo(2 ** (1 / Object.keys(rates).length));
  });

  it('is NaN where a job is missing', () => {
    expect(speedIndex({ ...rates, json: Number.NaN })).toBeNaN();
  });
});

describe('speedChange', () => {
  const { start } = calibratedAt(1);

  it('is that of one core or of all, whichever changed more', () => {
    expect(speedChange(start, { ...start, oneCore: 90 })).toBeCloseTo(-0.1);
    expect(speedChange(start, { ...start, oneCore: 102, allCores: 209 })).toBeCloseTo(0.1);
  });

  it('is told when it is more than five in a hundred', () => {
    const doubtsAt = (oneCore: number) =>
      doubtsOf(benchReport({ calibration: { start, end: { ...start, oneCore } } }));
    expect(doubtsAt(96)).toEqual([]);
    expect(doubtsAt(88)).toEqual(['The machine changed its speed: it was 12 % slower at the end.']);
    expect(doubtsAt(120)).toEqual(['The machine changed its speed: it was 20 % faster at the end.']);
  });
});

describe('doubtsOf', () => {
  it('tells of what was stolen, of few rounds and of changed files', () => {
    const { effort, versions } = benchReport();
    const orrery = { ...versions.orrery, isDirty: true };
    expect(
      doubtsOf(
        benchReport({
          stealShare: 0.04,
          effort: { ...effort, rounds: 3 },
          versions: { ...versions, orrery },
        }),
      ),
    ).toEqual([
      'The hypervisor took 4.0 % of all cores meanwhile.',
      '3 rounds are a look, not a figure.',
      'Files differed from commit 01234567.',
    ]);
  });

  it('has nothing to tell of a quiet run', () => {
    expect(doubtsOf(benchReport())).toEqual([]);
  });
});
