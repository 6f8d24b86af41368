import { oneLineReader } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const SUMMARY =
  /^(\d{1,9}) (?:runs|tests), (\d{1,9}) assertions, (\d{1,9}) failures, (\d{1,9}) errors, (\d{1,9}) (?:skips|pendings)/;

/** Minitest, Rails and test-unit: `5 runs, 7 assertions, 0 failures, 0 errors, 1 skips`. */
export const minitest: SummaryFormat = {
  name: 'minitest',
  reader: () =>
    oneLineReader({
      begins: /^# Running:$/,
      summaryIn: (line) => {
        const [, runs, , failures, errors, skips] = SUMMARY.exec(line) ?? [];
        if (runs === undefined) return undefined;
        const failed = number(failures) + number(errors);
        return { passed: Math.max(0, number(runs) - failed - number(skips)), failed, skipped: number(skips) };
      },
    }),
};
