import { NO_TESTS, type SummaryReader, sumOf, type TestSummary } from './test-summary.ts';

/**
 * Adds up the runs of a test runner, as those of the packages of a workspace.
 *
 * Of a run whose beginning is seen the last summary counts: a test may print others before it. Where a format says nothing at its
 * beginning, each summary is a run of its own.
 */
export class Runs {
  #over: TestSummary | undefined;
  #run: TestSummary | undefined;
  #hasBegun = false;

  /** A run begins. */
  begin(): void {
    this.#close();
    this.#hasBegun = true;
  }

  /** A summary was printed. */
  add(summary: TestSummary): void {
    if (!this.#hasBegun) this.#close();
    this.#run = summary;
  }

  /** The last summary goes on. */
  addToLast(summary: TestSummary): void {
    if (this.#run !== undefined) this.#run = sumOf(this.#run, summary);
  }

  summary(): TestSummary | undefined {
    if (this.#over === undefined || this.#run === undefined) return this.#run ?? this.#over;
    return sumOf(this.#over, this.#run);
  }

  #close(): void {
    if (this.#run !== undefined) this.#over = sumOf(this.#over ?? NO_TESTS, this.#run);
    this.#run = undefined;
  }
}

/** Reads a format whose summary is one line. `begins`: the line at which a run begins. */
export function oneLineReader({
  begins,
  summaryIn,
}: {
  readonly begins?: RegExp;
  readonly summaryIn: (line: string) => TestSummary | undefined;
}): SummaryReader {
  const runs = new Runs();
  return {
    line: (text) => {
      if (begins?.test(text)) runs.begin();
      const summary = summaryIn(text);
      if (summary !== undefined) runs.add(summary);
    },
    summary: () => runs.summary(),
  };
}
