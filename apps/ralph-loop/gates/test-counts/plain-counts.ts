import { number, type SummaryFormat, type TestSummary } from './test-summary.ts';

const SUMMARY =
  /^\W{0,8}(?:(?:tests?|results?|summary|total)\W{1,4})?(\d{1,9}) (?:tests? )?(passed|failed)\W{1,4}(?:and )?(\d{1,9}) (?:tests? )?(passed|failed)(?:\W{1,4}(\d{1,9}) (?:tests? )?(?:skipped|ignored|pending))?(?:\W.{0,80})?$/i;

/**
 * The line that a script may print for itself: `5 passed, 0 failed`, `5 passed, 0 failed, 1 skipped`. The last one counts, but what
 * any of them says has failed: nothing tells the lines of a test from those of the script.
 */
export const plainCounts: SummaryFormat = {
  name: 'plain counts',
  reader: () => {
    let last: TestSummary | undefined;
    let mostFailed = 0;
    return {
      line: (text) => {
        const [, first, one, second, other, skipped] = SUMMARY.exec(text) ?? [];
        if (one === undefined || one.toLowerCase() === other?.toLowerCase()) return;
        const isPassedFirst = one.toLowerCase() === 'passed';
        mostFailed = Math.max(mostFailed, number(isPassedFirst ? second : first));
        last = {
          passed: number(isPassedFirst ? first : second),
          failed: mostFailed,
          skipped: number(skipped),
        };
      },
      summary: () => last,
    };
  },
};
