import type { Reporter, TestModule } from 'vitest/node';

/** What a run came to. A file that did not load, a failing hook and an unhandled error count as one failure each. */
interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

function tally(modules: readonly TestModule[], unhandledErrors: number): Tally {
  const total: Tally = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) total.failed += 1;
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) total.failed += 1;
    }
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') total.passed += 1;
      else if (state === 'failed') total.failed += 1;
      else if (test.options.mode === 'skip' || test.options.mode === 'todo' || state === 'skipped')
        total.skipped += 1;
      else total.failed += 1;
    }
  }
  return total;
}

/**
 * Prints `N passed, N failed` (and `, N skipped`) as the very last line of a run.
 *
 * The line is written while the process exits, so nothing that Vitest prints comes after it. A run without a single
 * passed test, and one that ends before its results are in, are failures.
 */
export default class ClosingLineReporter implements Reporter {
  #tally: Tally | undefined;

  onInit(): void {
    process.once('exit', () => this.#close());
  }

  onTestRunStart(): void {
    this.#tally = undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#tally = tally(modules, unhandledErrors.length);
  }

  #close(): void {
    const { passed, failed, skipped } = this.#tally ?? { passed: 0, failed: 1, skipped: 0 };
    const nothingRan = passed === 0 && failed === 0;
    const failures = nothingRan || (failed === 0 && Boolean(process.exitCode)) ? failed + 1 : failed;
    if (failures > 0) process.exitCode ||= 1;
    process.stdout.write(
      `${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
    );
  }
}
