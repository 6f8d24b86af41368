import { countedWords } from './counted-words.ts';
import { Runs } from './runs.ts';
import { NO_TESTS, type SummaryFormat } from './test-summary.ts';

const WORDS = { passed: 'passed', failed: 'failed', skipped: 'skipped', todo: 'skipped' } as const;

/** Vitest: `Tests  1 failed | 2 passed (3)`. A file whose tests could not be read has failed, and so has an error outside of tests. */
export const vitest: SummaryFormat = {
  name: 'vitest',
  reader: () => {
    const runs = new Runs();
    let failedFiles = 0;
    return {
      line: (text) => {
        if (/^ ?RUN {1,2}v\d/.test(text)) runs.begin();
        if (/^No test files found/.test(text)) runs.add(NO_TESTS);
        const [, label, counts = ''] =
          /^ {0,8}(Test Files|Tests|Errors) {2}(\d.*|no tests)$/.exec(text) ?? [];
        if (label === 'Test Files') failedFiles = countedWords(counts, WORDS).failed;
        if (label === 'Errors') runs.addToLast(countedWords(counts, { error: 'failed', errors: 'failed' }));
        if (label !== 'Tests') return;
        const tests = countedWords(counts, WORDS);
        runs.add({ ...tests, failed: Math.max(tests.failed, failedFiles) });
        failedFiles = 0;
      },
      summary: () => runs.summary(),
    };
  },
};
