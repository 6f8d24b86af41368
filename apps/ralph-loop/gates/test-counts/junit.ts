import { Runs } from './runs.ts';
import {
  NO_TESTS,
  number,
  type SummaryFormat,
  type SummaryReader,
  sumOf,
  type TestSummary,
} from './test-summary.ts';

/** The line of a whole module: those of single classes go on with their time. */
const SUREFIRE =
  /^(?:\[\w{4,7}\] {1,2})?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9})(?:, Skipped: (\d{1,9}))?$/;
const LAUNCHER = /^\[ {0,9}(\d{1,9}) tests (found|skipped|aborted|successful|failed) {0,12}\]$/;
const GRADLE = /^(\d{1,9}) tests? completed(?:, (\d{1,9}) failed)?(?:, (\d{1,9}) skipped)?$/;
const JUNIT_4 = /^OK \((\d{1,9}) tests?\)$/;

/** JUnit: by Maven's surefire and failsafe, by its console launcher, by Gradle (which counts only what failed) and by JUnit 4. */
export const junit: SummaryFormat = { name: 'junit', reader: () => new JUnitReader() };

class JUnitReader implements SummaryReader {
  readonly #runs = new Runs();
  #launched = new Map<string, number>();

  line(text: string): void {
    const [, name, digits] = swapped(LAUNCHER.exec(text));
    if (name !== undefined) return this.#launcher(name, number(digits));
    const summary = summaryIn(text);
    if (summary !== undefined) this.#runs.add(summary);
  }

  summary(): TestSummary | undefined {
    return this.#runs.summary();
  }

  #launcher(name: string, count: number): void {
    if (name === 'found') this.#launched = new Map();
    this.#launched.set(name, count);
    if (name !== 'failed' || !this.#launched.has('found')) return;
    const of = (which: string): number => this.#launched.get(which) ?? 0;
    this.#runs.add({ passed: of('successful'), failed: count, skipped: of('skipped') + of('aborted') });
  }
}

const swapped = (match: RegExpExecArray | null): readonly (string | undefined)[] =>
  match === null ? [] : [match[0], match[2], match[1]];

function summaryIn(line: string): TestSummary | undefined {
  const ok = JUNIT_4.exec(line);
  if (ok !== null) return sumOf(NO_TESTS, { passed: number(ok[1]), failed: 0, skipped: 0 });
  const gradle = GRADLE.exec(line);
  const surefire = SUREFIRE.exec(line);
  const [, total, failures, more, last] = surefire ?? [];
  if (gradle !== null) return counted(number(gradle[1]), number(gradle[2]), number(gradle[3]));
  if (surefire === null) return undefined;
  return counted(number(total), number(failures) + number(more), number(last));
}

const counted = (total: number, failed: number, skipped: number): TestSummary => ({
  passed: Math.max(0, total - failed - skipped),
  failed,
  skipped,
});
