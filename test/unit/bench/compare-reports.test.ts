import { describe, expect, it } from 'vitest';
import { compareReports } from '../../../bench/compare/compare-reports.ts';
import { comparisonText } from '../../../bench/compare/comparison-text.ts';
import { htmlComparison } from '../../../bench/compare/html-comparison.ts';
import type { ProbeResult } from '../../../bench/results/bench-report.ts';
import { around, benchReport, calibratedAt, raceOf } from '../../fixtures/bench/bench-reports.ts';

const FILES = ['before.json', 'after.json'] as const;
const other = { ...benchReport().machine, cpuModel: 'Another processor' };

const probe = (value: number): ProbeResult => ({
  kind: 'probe',
  name: 'import-cost',
  title: 'What is loaded',
  readings: [
    { name: 'modules', value, unit: 'files', isExact: true, goalStatus: 'no goal' },
    { name: 'time', value: 100, values: around(100), unit: 'ms', goalStatus: 'no goal' },
    { name: 'a single look', value, unit: 'MB', goalStatus: 'no goal' },
  ],
});

const verdictsOf = (comparison: ReturnType<typeof compareReports>): Record<string, string> =>
  Object.fromEntries(comparison.rows.map(({ row, verdict }) => [`${row.quantity} of ${row.what}`, verdict]));

describe('compareReports', () => {
  it('has a verdict for each ratio, rate, CPU and reading, and none for memory of one process', () => {
    const before = benchReport({ results: [raceOf('tell', around(100), around(100)), probe(284)] });
    const after = benchReport({ results: [raceOf('tell', around(130), around(100)), probe(290)] });
    expect(verdictsOf(compareReports(before, after, []))).toEqual({
      'ratio of ours / theirs': 'better',
      'rate of ours': 'better',
      'CPU of ours': 'better',
      'memory of ours': 'cannot say',
      'rate of theirs': 'same',
      'CPU of theirs': 'same',
      'memory of theirs': 'cannot say',
      'reading of modules': 'worse',
      'reading of time': 'same',
      'reading of a single look': 'cannot say',
    });
  });

  it('compares times of races that show times', () => {
    const slow = { ...raceOf('round-trip', around(100), around(100)), unit: 'microseconds' as const };
    const report = benchReport({ results: [slow] });
    const { rows } = compareReports(report, report, []);
    const row = rows.find(({ row: { quantity, what } }) => quantity === 'rate' && what === 'ours');
    expect(row).toMatchObject({ before: 10_000, verdict: 'same', row: { unit: 'us', better: 'less' } });
  });

  it('compares what --only begins', () => {
    const report = benchReport({
      results: [raceOf('tell-across', around(1), around(1)), raceOf('ask', around(1), around(1))],
    });
    const { rows } = compareReports(report, report, ['tell']);
    expect(new Set(rows.map(({ row }) => row.measurement))).toEqual(new Set(['tell-across']));
  });

  it('names what stands in one of the files only', () => {
    const before = benchReport({ results: [raceOf('gone', around(1), around(1))] });
    const after = benchReport({ results: [raceOf('new', around(1), around(1))] });
    const comparison = compareReports(before, after, []);
    expect(comparison.rows).toEqual([]);
    const text = comparisonText(comparison, FILES);
    expect(text).toContain('Only in before.json:\n  gone: ratio of ours / theirs');
    expect(text).toContain('Only in after.json:\n  new: ratio of ours / theirs');
  });

  it('normalises rates and times by the calibration where the machines differ, and not ratios', () => {
    const before = benchReport({ results: [raceOf('tell', around(100), around(100))] });
    const after = benchReport({
      machine: other,
      calibration: calibratedAt(2),
      results: [raceOf('tell', around(200), around(200))],
    });
    const comparison = compareReports(before, after, []);
    expect(comparison.speed).toBe(2);
    expect(verdictsOf(comparison)).toMatchObject({
      'ratio of ours / theirs': 'same',
      'rate of ours': 'same',
      'CPU of ours': 'same',
    });
    const text = comparisonText(comparison, FILES);
    expect(text).toContain('The machines differ: 2 x A processor, then 2 x Another processor.');
    expect(text).toContain('By calibration the machine of after.json is 2 times as fast: its rates');
  });

  it('says that it cannot say of rates that a change of speed of the same machine would explain', () => {
    const before = benchReport({ results: [raceOf('tell', around(100), around(100))] });
    const at = (speed: number, rate: number) => {
      const results = [raceOf('tell', around(rate), around(100))];
      return compareReports(before, benchReport({ results, calibration: calibratedAt(speed) }), []);
    };
    const rate = 'rate of ours';
    expect(verdictsOf(at(0.8, 80))).toMatchObject({
      [rate]: 'cannot say',
      'ratio of ours / theirs': 'worse',
    });
    expect(verdictsOf(at(0.8, 50))).toMatchObject({ [rate]: 'worse' });
    expect(verdictsOf(at(1.03, 80))).toMatchObject({ [rate]: 'worse' });
    expect(comparisonText(at(0.8, 80), FILES)).toContain(
      'By calibration the machine of after.json is 0.8 times as fast as it was',
    );
    expect(comparisonText(at(1.03, 80), FILES)).not.toContain('By calibration');
  });

  it('says which versions and which effort differ, and what speaks against each run', () => {
    const { versions, effort, busyness } = benchReport();
    const before = benchReport();
    const after = benchReport({
      versions: { ...versions, node: '28.0.0', packages: { comlink: '5.0.0' } },
      effort: { ...effort, rounds: 3 },
      busyness: { ...busyness, isQuiet: false, reasons: ['others take 90 % of all cores'] },
    });
    const text = comparisonText(compareReports(before, after, []), FILES);
    expect(text).toContain('Node was 26.10.0, then 28.0.0.');
    expect(text).toContain('comlink was 4.4.2, then 5.0.0.');
    expect(text).toContain('after.json: The machine was not quiet: others take 90 % of all cores.');
    expect(text).toContain('after.json: 3 rounds are a look, not a figure.');
  });

  it('lists what got worse, in the words of what it is', () => {
    const before = benchReport({ results: [raceOf('tell', around(100), around(100)), probe(284)] });
    const after = benchReport({ results: [raceOf('tell', around(80), around(100)), probe(285)] });
    const comparison = compareReports(before, after, []);
    expect(comparison.worse.map(({ row }) => row.quantity)).toEqual(['ratio', 'rate', 'CPU', 'reading']);
    const text = comparisonText(comparison, FILES);
    expect(text).toMatch(/tell: rate of ours: 100\/s, then 80\/s slower 0\.80 \[/);
    expect(text).toMatch(/tell: CPU of ours: .* dearer/);
    expect(text).toContain('10 rows: 0 better, 4 worse, 3 same, 3 cannot say');
  });
});

describe('htmlComparison', () => {
  it('escapes names and is one page without scripts', () => {
    const report = benchReport({ results: [raceOf('<script>alert(1)</script>', around(1), around(1))] });
    const page = htmlComparison(compareReports(report, report, []), ['<a>.json', '"b".json']);
    expect(page).not.toMatch(/<script|https?:\/\//);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('<h1>&lt;a&gt;.json, then &quot;b&quot;.json</h1>');
  });
});
