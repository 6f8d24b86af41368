import { Runs } from './runs.ts';
import { NO_TESTS, number, type SummaryFormat } from './test-summary.ts';

const SUMMARY = /^\d{1,3}% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})$/;
const LEFT_OUT = /^\t? {0,9}\d{1,9} - .{1,400} \((?:Skipped|Disabled)\)$/;

/** CTest: `90% tests passed, 1 tests failed out of 10`. What it skipped it counts as passed, and lists afterwards. */
export const ctest: SummaryFormat = {
  name: 'ctest',
  reader: () => {
    const runs = new Runs();
    let mayFollow = 0;
    return {
      line: (text) => {
        if (text.startsWith('Test project ')) runs.begin();
        if (text === 'No tests were found!!!') runs.add(NO_TESTS);
        const [, failures, total] = SUMMARY.exec(text) ?? [];
        if (total !== undefined) {
          const failed = number(failures);
          mayFollow = Math.max(0, number(total) - failed);
          runs.add({ passed: mayFollow, failed, skipped: 0 });
        } else if (mayFollow > 0 && LEFT_OUT.test(text)) {
          mayFollow--;
          runs.addToLast({ passed: -1, failed: 0, skipped: 1 });
        }
      },
      summary: () => runs.summary(),
    };
  },
};
