import { countedWords } from './counted-words.ts';
import { Runs } from './runs.ts';
import { NO_TESTS, type SummaryFormat } from './test-summary.ts';

const WORDS = { passed: 'passed', failed: 'failed', skipped: 'skipped', todo: 'skipped' } as const;

/** Jest: `Tests:       1 failed, 2 passed, 3 total`. A suite that could not be run has failed. */
export const jest: SummaryFormat = {
  name: 'jest',
  reader: () => {
    const runs = new Runs();
    let failedSuites = 0;
    return {
      line: (text) => {
        if (/^No tests found/.test(text)) runs.add(NO_TESTS);
        const [, label, counts = ''] =
          /^(Test Suites|Tests): {1,8}((?:\d{1,9} \w{1,20}, ){0,6}\d{1,9} (?:of \d{1,9} )?total)$/.exec(
            text,
          ) ?? [];
        if (label === undefined) return;
        const counted = countedWords(counts, WORDS);
        if (label === 'Test Suites') failedSuites = counted.failed;
        else {
          runs.add({ ...counted, failed: Math.max(counted.failed, failedSuites) });
          failedSuites = 0;
        }
      },
      summary: () => runs.summary(),
    };
  },
};
