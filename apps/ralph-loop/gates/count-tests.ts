import { bunTest } from './test-counts/bun-test.ts';
import { cargoTest } from './test-counts/cargo-test.ts';
import { ctest } from './test-counts/ctest.ts';
import { denoTest } from './test-counts/deno-test.ts';
import { dotnetTest } from './test-counts/dotnet-test.ts';
import { goTest } from './test-counts/go-test.ts';
import { jest } from './test-counts/jest.ts';
import { junit } from './test-counts/junit.ts';
import { minitest } from './test-counts/minitest.ts';
import { mocha } from './test-counts/mocha.ts';
import { nodeTest } from './test-counts/node-test.ts';
import { phpunit } from './test-counts/phpunit.ts';
import { plainCounts } from './test-counts/plain-counts.ts';
import { playwright } from './test-counts/playwright.ts';
import { pytest } from './test-counts/pytest.ts';
import { rspec } from './test-counts/rspec.ts';
import { tap } from './test-counts/tap.ts';
import { NO_TESTS, type SummaryFormat, sumOf } from './test-counts/test-summary.ts';
import { unittest } from './test-counts/unittest.ts';
import { vitest } from './test-counts/vitest.ts';
import type { TestCount } from './gate-receipt.ts';
import { LineReader } from './line-reader.ts';

/** All formats that are known. What is plain counts only where nothing else was found: other summaries look like it. */
export const SUMMARY_FORMATS: readonly SummaryFormat[] = [
  tap,
  nodeTest,
  vitest,
  jest,
  mocha,
  playwright,
  pytest,
  unittest,
  goTest,
  cargoTest,
  rspec,
  minitest,
  phpunit,
  junit,
  dotnetTest,
  denoTest,
  bunTest,
  ctest,
];

/** What a line needs to be part of any summary. Floods of other lines are not looked at closer. */
const MAY_COUNT = /\d|test|^\s{0,60}(?:not )?ok\b|^(?:FAIL|NO |Bail out!|#|=|─)/i;

/**
 * Counts tests in the output of a gate, by the summaries that test runners print. Summaries of several runs and runners are added
 * up. It reads as the output comes, and keeps one line and the counts.
 */
export class TestCounter {
  readonly #formats = SUMMARY_FORMATS.map((format) => ({ name: format.name, reader: format.reader() }));
  readonly #plain = { name: plainCounts.name, reader: plainCounts.reader() };
  readonly #lines = new LineReader((line) => this.#line(line));

  /** Reads on. */
  write(text: string): void {
    this.#lines.write(text);
  }

  /** The count at the end of the output; undefined where there is no summary that is known. */
  end(): TestCount | undefined {
    this.#lines.end();
    return this.#countOf(this.#formats) ?? this.#countOf([this.#plain]);
  }

  #line(line: string): void {
    if (!MAY_COUNT.test(line)) return;
    for (const { reader } of this.#formats) reader.line(line);
    this.#plain.reader.line(line);
  }

  #countOf(
    formats: readonly { readonly name: string; readonly reader: ReturnType<SummaryFormat['reader']> }[],
  ) {
    const found = formats.flatMap(({ name, reader }) => {
      const summary = reader.summary();
      return summary === undefined ? [] : [{ name, summary }];
    });
    if (found.length === 0) return undefined;
    const all = found.reduce((sum, { summary }) => sumOf(sum, summary), NO_TESTS);
    return { ...all, by: found.map(({ name }) => name).join(', ') };
  }
}

/** The count of a whole text. */
export function countTests(text: string): TestCount | undefined {
  const counter = new TestCounter();
  counter.write(text);
  return counter.end();
}
