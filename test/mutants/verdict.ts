import type { Mutant } from './mutant.ts';
import type { FailedTest, SuiteRun } from './suite-run.ts';

/**
 * What a suite said to a mutant.
 *
 * - `killed`   by the test that is named.
 * - `survived` the suite is green: the bug would not be noticed.
 * - `error`    the run says nothing of it.
 */
export interface Verdict {
  readonly kind: 'killed' | 'survived' | 'error';
  readonly detail: string;
}

const killed = (detail: string): Verdict => ({ kind: 'killed', detail });
const error = (detail: string): Verdict => ({ kind: 'error', detail });

/**
 * Judges the run of one suite of a mutant.
 *
 * Only a test that fails kills: code that does not load is no bug that anybody ships. One that only does not end may be
 * slow, so it counts for mutants of which that is expected.
 */
export function judgeRun({ ends }: Pick<Mutant, 'ends'>, run: SuiteRun): Verdict {
  const mayHang = ends === 'timeout';
  if (run.isOverdue) {
    const after = `its suite had not ended after ${run.seconds.toFixed(0)} s`;
    return mayHang
      ? killed(after)
      : error(`${after}; a mutant of which that is expected says "Ends: timeout"`);
  }
  const failed = run.files.flatMap((file) => file.failed);
  const first = failed.find(({ isTimeout }) => !isTimeout) ?? (mayHang ? failed[0] : undefined);
  if (first !== undefined) return killed(first.title);
  if (failed[0] !== undefined)
    return error(`${nameOf(failed[0])} did not end; a mutant of which that is expected says "Ends: timeout"`);
  const broken = run.files.find(({ fault }) => fault !== undefined);
  if (broken !== undefined) return error(`${broken.file} failed, but none of its tests: ${broken.fault}`);
  const passed = run.files.reduce((sum, file) => sum + file.passed, 0);
  if (passed === 0) return error(`no test ran: ${run.output.trim()}`);
  if (run.exitCode !== 0) return error(`no test failed, and yet Vitest did: ${run.output.trim()}`);
  const suite = run.files.map(({ file }) => file).join(', ');
  return { kind: 'survived', detail: `all ${passed} tests of ${suite} passed` };
}

/** What all its suites say together: each has to kill it. */
export const judgeAll = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.find(({ kind }) => kind === 'error') ??
  verdicts.find(({ kind }) => kind === 'survived') ??
  killed(verdicts.map(({ detail }) => detail).join('; '));

const nameOf = ({ file, title }: FailedTest): string => `${file} > ${title}`;
