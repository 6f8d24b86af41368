import { countedWords } from './counted-words.ts';
import { oneLineReader } from './runs.ts';
import type { SummaryFormat } from './test-summary.ts';

const SUMMARY = /^(?:ok|FAILED) \| (\d{1,9} passed .{0,200}) \([\d.]{1,12} ?[a-z]{1,2}\)$/;
const WORDS = { passed: 'passed', failed: 'failed', ignored: 'skipped' } as const;

/** `deno test`: `ok | 3 passed (2 steps) | 0 failed | 1 ignored (12ms)`. */
export const denoTest: SummaryFormat = {
  name: 'deno test',
  reader: () =>
    oneLineReader({
      summaryIn: (line) => {
        const counts = SUMMARY.exec(line)?.[1];
        // Steps are in parentheses, and counted with their test.
        return counts === undefined ? undefined : countedWords(counts.replace(/\([^)]*\)/g, ''), WORDS);
      },
    }),
};
