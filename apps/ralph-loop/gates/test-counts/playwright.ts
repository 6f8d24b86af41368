import { Runs } from './runs.ts';
import { NO_TESTS, number, type SummaryFormat, type TestSummary } from './test-summary.ts';

const COUNT =
  /^ {2}(\d{1,9}) (failed|flaky|interrupted|skipped|did not run|passed)(?: \([\d.]{1,12} ?[a-z]{1,2}\))?$/;
const COUNTS: Readonly<Record<string, keyof TestSummary>> = {
  passed: 'passed',
  flaky: 'passed',
  skipped: 'skipped',
  failed: 'failed',
  interrupted: 'failed',
  'did not run': 'failed',
};

/** Playwright: `Running 3 tests using 1 worker`, and at the end a line for each count. */
export const playwright: SummaryFormat = {
  name: 'playwright',
  reader: () => {
    const runs = new Runs();
    let isRunning = false;
    return {
      line: (text) => {
        if (/^Running \d{1,9} tests? using \d{1,9} workers?/.test(text)) {
          runs.begin();
          runs.add(NO_TESTS);
          isRunning = true;
        }
        const [, digits, word = ''] = (isRunning && COUNT.exec(text)) || [];
        const count = COUNTS[word];
        if (count !== undefined) runs.addToLast({ ...NO_TESTS, [count]: number(digits) });
      },
      summary: () => runs.summary(),
    };
  },
};
