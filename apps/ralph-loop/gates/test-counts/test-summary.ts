/** How many tests have passed, failed and been left out. What was expected to fail counts as left out. */
export interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads the lines of an output for the summaries of one kind of test runner. */
export interface SummaryReader {
  /** A line without its end and without colours. It may be the beginning of a longer one. */
  line(text: string): void;
  /** What the lines so far come to; undefined without a summary. */
  summary(): TestSummary | undefined;
}

/** The summaries of a kind of test runner; `name` is how people call it. */
export interface SummaryFormat {
  readonly name: string;
  reader(): SummaryReader;
}

export const NO_TESTS: TestSummary = { passed: 0, failed: 0, skipped: 0 };

export const sumOf = (one: TestSummary, other: TestSummary): TestSummary => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: one.skipped + other.skipped,
});

/** A number of tests that was printed. It has at most nine digits, as the patterns of the formats see to. */
export const number = (digits: string | undefined): number => Number(digits ?? 0);
