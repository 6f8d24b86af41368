import { describe, expect, it } from 'vitest';
import type { FailedTest, FileRun, SuiteRun } from '../../mutants/suite-run.ts';
import { judgeAll, judgeRun } from '../../mutants/verdict.ts';

const failing = (isTimeout: boolean, title = 'adds'): FailedTest => ({
  file: 'x.test.ts',
  title,
  message: '',
  isTimeout,
});

const file = (fields: Partial<FileRun>): FileRun => ({
  file: 'x.test.ts',
  seconds: 1,
  passed: 3,
  failed: [],
  fault: undefined,
  ...fields,
});

const run = (fields: Partial<SuiteRun>): SuiteRun => ({
  files: [file({})],
  exitCode: 0,
  isOverdue: false,
  seconds: 61,
  output: 'what was printed',
  ...fields,
});

const red = (...failed: FailedTest[]): SuiteRun => run({ files: [file({ failed })], exitCode: 1 });
const judge = (one: SuiteRun, ends: 'failure' | 'timeout' = 'failure') => judgeRun({ ends }, one);

describe('The run of a suite with a bug in it', () => {
  it('kills by a test that fails, and says which', () => {
    expect(judge(red(failing(false)))).toEqual({ kind: 'killed', detail: 'adds' });
  });

  it('shows a hole when everything passes', () => {
    expect(judge(run({}))).toEqual({ kind: 'survived', detail: 'all 3 tests of x.test.ts passed' });
  });

  it('does not kill by not ending, unless that is expected', () => {
    expect(judge(red(failing(true)))).toMatchObject({ kind: 'error' });
    expect(judge(red(failing(true)), 'timeout')).toEqual({ kind: 'killed', detail: 'adds' });
    expect(judge(red(failing(true), failing(false, 'subtracts')))).toMatchObject({ detail: 'subtracts' });
    const overdue = run({ files: [], exitCode: undefined as never, isOverdue: true });
    expect(judge(overdue)).toMatchObject({ kind: 'error' });
    expect(judge(overdue, 'timeout')).toMatchObject({
      kind: 'killed',
      detail: expect.stringContaining('61 s'),
    });
  });

  it.each([
    ['nothing loads', run({ files: [file({ passed: 0, fault: 'Unexpected token' })], exitCode: 1 })],
    ['no test runs', run({ files: [], exitCode: 1 })],
    ['Vitest itself fails', run({ exitCode: 1 })],
  ])('says nothing of the bug when %s', (_, one) => {
    expect(judge(one)).toMatchObject({ kind: 'error' });
  });
});

describe('All suites of a bug', () => {
  it('have to kill it each', () => {
    const [killed, survived, error] = [
      judge(red(failing(false))),
      judge(run({})),
      judge(run({ exitCode: 1 })),
    ];
    expect(judgeAll([killed, killed])).toEqual({ kind: 'killed', detail: 'adds; adds' });
    expect(judgeAll([killed, survived])).toEqual(survived);
    expect(judgeAll([survived, error])).toEqual(error);
  });
});
