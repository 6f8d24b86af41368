import { z } from 'zod';
import {
  NO_TESTS,
  number,
  type SummaryFormat,
  type SummaryReader,
  sumOf,
  type TestSummary,
} from './test-summary.ts';

const RESULT = /^--- (PASS|FAIL|SKIP): \S/;
const PACKAGE = /^(ok {2}|FAIL|\?? {3})\t\S{1,400}(?:[\t ](.{0,200}))?$/;
const DONE =
  /^DONE (?:\d{1,9} runs, )?(\d{1,9}) tests?(?:, (\d{1,9}) skipped)?(?:, (\d{1,9}) failures?)?(?:, (\d{1,9}) errors?)? in /;

const PASSED: TestSummary = { passed: 1, failed: 0, skipped: 0 };
const FAILED: TestSummary = { passed: 0, failed: 1, skipped: 0 };
const SKIPPED: TestSummary = { passed: 0, failed: 0, skipped: 1 };

/** What counts in a line of `go test -json`. Results of subtests are counted with their test. */
const JsonLine = z.object({ Action: z.enum(['pass', 'fail', 'skip']), Test: z.string().optional() });
const OF_ACTION = { pass: PASSED, fail: FAILED, skip: SKIPPED } as const;

/**
 * `go test`, plain, with `-v` or `-json`, and gotestsum.
 *
 * Without `-v` it does not say how many tests a package has: one that has some counts as one test.
 */
export const goTest: SummaryFormat = { name: 'go test', reader: () => new GoTestReader() };

class GoTestReader implements SummaryReader {
  #lines: TestSummary | undefined;
  /** The tests since the last line of a package. */
  #open = NO_TESTS;
  #done: TestSummary | undefined;

  line(text: string): void {
    if (text.startsWith('{"')) return this.#json(text);
    const result = RESULT.exec(text)?.[1];
    if (result !== undefined) {
      this.#open = sumOf(this.#open, OF_ACTION[result.toLowerCase() as keyof typeof OF_ACTION]);
    }
    const [, verdict, rest = ''] = PACKAGE.exec(text) ?? [];
    if (verdict !== undefined) this.#package(verdict.trim(), rest);
    const done = DONE.exec(text);
    if (done !== null) this.#done = doneOf(done);
  }

  summary(): TestSummary | undefined {
    if (this.#done !== undefined) return this.#done;
    const isOpen = this.#open.passed + this.#open.failed + this.#open.skipped > 0;
    return isOpen ? sumOf(this.#lines ?? NO_TESTS, this.#open) : this.#lines;
  }

  #package(verdict: string, rest: string): void {
    const open = this.#open;
    this.#open = NO_TESTS;
    this.#add(open);
    const hasRun = open.passed + open.failed + open.skipped > 0;
    if (verdict === 'FAIL' && open.failed === 0) this.#add(FAILED);
    else if (verdict === 'ok' && !hasRun && !rest.includes('[no tests to run]')) this.#add(PASSED);
  }

  #json(text: string): void {
    const event = JsonLine.safeParse(jsonOf(text)).data;
    if (event === undefined) return;
    // A package that failed without a failed test could not be built.
    if (event.Test === undefined)
      this.#add(event.Action === 'fail' && !this.#lines?.failed ? FAILED : NO_TESTS);
    else if (!event.Test.includes('/')) this.#add(OF_ACTION[event.Action]);
  }

  #add(summary: TestSummary): void {
    this.#lines = sumOf(this.#lines ?? NO_TESTS, summary);
  }
}

function doneOf([, tests, skips, failures, errors]: RegExpExecArray): TestSummary {
  const failed = number(failures) + number(errors);
  const skipped = number(skips);
  return { passed: Math.max(0, number(tests) - number(failures) - skipped), failed, skipped };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
