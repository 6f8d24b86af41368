import { countedWords } from './counted-words.ts';
import { oneLineReader } from './runs.ts';
import { NO_TESTS, number, type SummaryFormat, type TestSummary } from './test-summary.ts';

const ALL_PASSED = /^OK \((\d{1,9}) tests?, \d{1,9} assertions?\)$/;
const TOTALS = /^Tests: (\d{1,9}), Assertions: \d{1,9}(,.{0,200})?\.$/;
const PEST = /^ {2}Tests: {1,8}(\d.{0,200}) \(\d{1,9} assertions?\)$/;

/** PHPUnit: `OK (5 tests, 9 assertions)` or `Tests: 5, Assertions: 9, Failures: 1.` Also Pest. */
export const phpunit: SummaryFormat = {
  name: 'phpunit',
  reader: () => oneLineReader({ begins: /^PHPUnit \d[\d.]{1,12} by /, summaryIn }),
};

function summaryIn(line: string): TestSummary | undefined {
  if (line === 'No tests executed!') return NO_TESTS;
  const ok = ALL_PASSED.exec(line);
  if (ok !== null) return { ...NO_TESTS, passed: number(ok[1]) };
  const pest = PEST.exec(line)?.[1];
  if (pest !== undefined) {
    return countedWords(pest, {
      passed: 'passed',
      failed: 'failed',
      skipped: 'skipped',
      todo: 'skipped',
      todos: 'skipped',
      incomplete: 'skipped',
    });
  }
  const totals = TOTALS.exec(line);
  if (totals === null) return undefined;
  const of = (name: string): number => number(new RegExp(`, ${name}: (\\d{1,9})`).exec(totals[2] ?? '')?.[1]);
  const failed = of('Errors') + of('Failures');
  const skipped = of('Skipped') + of('Incomplete');
  return { passed: Math.max(0, number(totals[1]) - failed - skipped), failed, skipped };
}
