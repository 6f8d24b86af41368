import { oneLineReader } from './runs.ts';
import { number, type SummaryFormat } from './test-summary.ts';

const RESULT =
  /^test result: \w{2,8}\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; \d{1,9} measured/;
const NEXTEST =
  /^ {0,12}Summary \[ {0,12}[\d.]{1,12}s\] (?:\d{1,9}\/)?\d{1,9} tests? run: (\d{1,9}) passed(?: \([^)]{1,60}\))?(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) timed out)?(?:, (\d{1,9}) skipped)?/;

/** `cargo test`: a `test result:` for each of its programs. Also `cargo nextest`. */
export const cargoTest: SummaryFormat = {
  name: 'cargo test',
  reader: () =>
    oneLineReader({
      begins: /^(?:running \d{1,9} tests?|─{4,})$/,
      summaryIn: (line) => {
        const [, passed, failed, ignored] = RESULT.exec(line) ?? [];
        if (passed !== undefined) {
          return { passed: number(passed), failed: number(failed), skipped: number(ignored) };
        }
        const next = NEXTEST.exec(line);
        if (next === null) return undefined;
        return {
          passed: number(next[1]),
          failed: number(next[2]) + number(next[3]),
          skipped: number(next[4]),
        };
      },
    }),
};
