import { Runs } from './runs.ts';
import {
  NO_TESTS,
  number,
  type SummaryFormat,
  type SummaryReader,
  type TestSummary,
} from './test-summary.ts';

const ONE_LINE =
  /^(?:Passed|Failed|Skipped)! {1,3}- Failed: {0,9}(\d{1,9}), Passed: {0,9}(\d{1,9}), Skipped: {0,9}(\d{1,9}), Total:/;
const TERMINAL =
  /^Test summary: total: (\d{1,9}), failed: (\d{1,9}), succeeded: (\d{1,9}), skipped: (\d{1,9}), duration:/;
const FIELD = /^ {2,9}(passed|failed|skipped|succeeded): {1,3}(\d{1,9})$/i;
const COUNTS: Readonly<Record<string, keyof TestSummary>> = {
  passed: 'passed',
  succeeded: 'passed',
  failed: 'failed',
  skipped: 'skipped',
};

/** `dotnet test`: `Passed! - Failed: 0, Passed: 5, Skipped: 0, …`, its terminal logger, and both of its longer forms. */
export const dotnetTest: SummaryFormat = { name: 'dotnet test', reader: () => new DotnetReader() };

class DotnetReader implements SummaryReader {
  readonly #runs = new Runs();
  /** The lines that follow belong to a summary. */
  #isOpen = false;

  line(text: string): void {
    const one = ONE_LINE.exec(text);
    if (one !== null) {
      this.#runs.add({ failed: number(one[1]), passed: number(one[2]), skipped: number(one[3]) });
    }
    const terminal = TERMINAL.exec(text);
    if (terminal !== null) {
      this.#runs.add({
        failed: number(terminal[2]),
        passed: number(terminal[3]),
        skipped: number(terminal[4]),
      });
    }
    if (/^(?:Total tests: \d{1,9}|Test run summary: .{1,40})$/.test(text)) {
      this.#isOpen = true;
      return this.#runs.add(NO_TESTS);
    }
    this.#field(text);
  }

  summary(): TestSummary | undefined {
    return this.#runs.summary();
  }

  #field(text: string): void {
    if (!this.#isOpen) return;
    if (!text.startsWith(' ')) this.#isOpen = false;
    const [, word = '', digits] = FIELD.exec(text) ?? [];
    const count = COUNTS[word.toLowerCase()];
    if (count !== undefined) this.#runs.addToLast({ ...NO_TESTS, [count]: number(digits) });
  }
}
