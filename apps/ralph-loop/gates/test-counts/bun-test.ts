import { Runs } from './runs.ts';
import { NO_TESTS, number, type SummaryFormat, type TestSummary } from './test-summary.ts';

const COUNT = /^ {0,2}(\d{1,9}) (pass|fail|skip|todo|error|errors)$/;
const RAN = /^Ran \d{1,9} tests? across \d{1,9} files?\./;
const COUNTS: Readonly<Record<string, keyof TestSummary>> = {
  pass: 'passed',
  fail: 'failed',
  error: 'failed',
  errors: 'failed',
  skip: 'skipped',
  todo: 'skipped',
};

/** `bun test`: lines such as `3 pass` and `0 fail`, ended by `Ran 3 tests across 1 file.` */
export const bunTest: SummaryFormat = {
  name: 'bun test',
  reader: () => {
    const runs = new Runs();
    let counts: TestSummary | undefined;
    return {
      line: (text) => {
        if (/^bun test v\d/.test(text)) runs.begin();
        const [, digits, word = ''] = COUNT.exec(text) ?? [];
        const count = COUNTS[word];
        if (word === 'pass') counts = NO_TESTS;
        if (count !== undefined) counts = { ...(counts ?? NO_TESTS), [count]: number(digits) };
        if (!RAN.test(text)) return;
        runs.add(counts ?? NO_TESTS);
        counts = undefined;
      },
      summary: () => runs.summary(),
    };
  },
};
