import { countedWords } from './counted-words.ts';
import { oneLineReader } from './runs.ts';
import type { SummaryFormat } from './test-summary.ts';

const SUMMARY =
  /^(?:=+ )?((?:\d{1,9} [a-z]{1,20}, ){0,9}\d{1,9} [a-z]{1,20}|no tests ran) in [\d.]{1,12}s(?: \([\d:]{1,20}\))?(?: =+)?$/;
const WORDS = {
  passed: 'passed',
  xpassed: 'passed',
  failed: 'failed',
  error: 'failed',
  errors: 'failed',
  skipped: 'skipped',
  xfailed: 'skipped',
} as const;

/** pytest: `=== 1 failed, 2 passed in 0.12s ===`, with `-q` without the frame. */
export const pytest: SummaryFormat = {
  name: 'pytest',
  reader: () =>
    oneLineReader({
      begins: /^=+ test session starts =+$/,
      summaryIn: (line) => {
        const counts = SUMMARY.exec(line)?.[1];
        return counts === undefined ? undefined : countedWords(counts, WORDS);
      },
    }),
};
