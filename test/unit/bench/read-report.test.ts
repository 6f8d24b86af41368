import { describe, expect, it } from 'vitest';
import { readReport, reportIn } from '../../../bench/results/read-report.ts';
import { around, benchReport, raceOf } from '../../fixtures/bench/bench-reports.ts';

const report = benchReport({ results: [raceOf('tell', around(100), around(90))] });

const codeAndText = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
  return 'nothing was thrown';
};

describe('reading results', () => {
  it('reads what was written', () => {
    expect(reportIn(JSON.stringify(report), 'a.json')).toEqual(report);
  });

  it('refuses a file that is not there, or holds no JSON, by its name', () => {
    expect(codeAndText(() => readReport('no/such/file.json'))).toMatch(
      /^RESULTS_INVALID: no\/such\/file\.json holds no results: ENOENT/,
    );
    expect(codeAndText(() => reportIn('{"version": 2,', 'cut.json'))).toMatch(
      /^RESULTS_INVALID: cut\.json holds no results: it is no JSON/,
    );
  });

  it.each([
    ['null', 'version is missing'],
    ['{}', 'version is missing'],
    ['{"version": 1}', 'version is 1'],
    ['{"version": "2"}', 'version is "2"'],
  ])('refuses %s: it is of another version', (text, fault) => {
    expect(codeAndText(() => reportIn(text, 'old.json'))).toBe(
      `RESULTS_INVALID: old.json holds no results: ${fault}, expected 2: measure again`,
    );
  });

  it('names the field that is wrong, and its value', () => {
    const { machine, ...rest } = report;
    expect(codeAndText(() => reportIn(JSON.stringify(rest), 'a.json'))).toContain('machine is missing');
    const text = JSON.stringify(report).replace('"of":"rate"', '"of":"colour"');
    expect(codeAndText(() => reportIn(text, 'a.json'))).toContain(
      'results[0].comparisons[0].of is "colour", expected "rate", "time" or "cpu"',
    );
    expect(machine.cores).toBe(2);
  });
});
