import { oneLineReader } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const SUMMARY =
  /^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors? occurred outside of examples)?$/;

/** RSpec: `5 examples, 1 failure, 1 pending`. */
export const rspec: SummaryFormat = {
  name: 'rspec',
  reader: () =>
    oneLineReader({
      summaryIn: (line) => {
        const [, examples, failures, pending, errors] = SUMMARY.exec(line) ?? [];
        if (examples === undefined) return undefined;
        const passed = Math.max(0, number(examples) - number(failures) - number(pending));
        return { passed, failed: number(failures) + number(errors), skipped: number(pending) };
      },
    }),
};
