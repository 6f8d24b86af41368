import { describe, expect, it } from 'vitest';
import { type GateEnd, judgeGate } from '../../../gates/judge-gate.ts';

const end = (more: Partial<GateEnd>): GateEnd => ({ exitCode: 0, timeoutMs: 600_000, ...more });
const tests = (passed: number, failed = 0, skipped = 0) => ({ passed, failed, skipped, by: 'vitest' });

describe('a gate', () => {
  it.each<
    [tests: boolean | number | undefined, end: Partial<GateEnd>, passed: boolean, why: string | RegExp]
  >([
    [undefined, {}, true, 'exit code 0'],
    [false, {}, true, 'exit code 0'],
    [undefined, { tests: tests(1, 2) }, true, 'exit code 0, 2 of 3 tests failed'],
    [true, { tests: tests(1) }, true, 'exit code 0, 1 test passed'],
    [3, { tests: tests(3, 0, 1) }, true, 'exit code 0, 3 tests passed, 1 left out'],
    [true, { tests: tests(0) }, false, 'exit code 0, but no test ran'],
    [true, { tests: tests(0, 0, 4) }, false, 'exit code 0, but no test ran: 4 left out'],
    [true, {}, false, /^exit code 0, but no test ran that is known of/],
    [true, { tests: tests(8, 2) }, false, 'exit code 0, but 2 tests failed of 10 that ran'],
    [4, { tests: tests(3, 0, 9) }, false, 'exit code 0, but only 3 tests ran of 4 that must'],
    [undefined, { exitCode: 1, tests: tests(8, 2) }, false, 'exit code 1; 2 of 10 tests failed'],
    [true, { exitCode: 1, tests: tests(8) }, false, 'exit code 1; 8 tests passed'],
    [undefined, { exitCode: 127 }, false, 'exit code 127: a command was not found'],
    [undefined, { exitCode: 126 }, false, 'exit code 126: a command is no program that may be run'],
    [undefined, { exitCode: 137 }, false, 'exit code 137: a command was ended by SIGKILL'],
    [undefined, { exitCode: null, signal: 'SIGSEGV' }, false, 'ended by SIGSEGV'],
    [true, { tests: tests(3), endedFor: 'time' }, false, 'not over after 10 min 0 s, so it was ended'],
    [true, { tests: tests(3), endedFor: 'stop' }, false, 'stopped before it was over'],
    [undefined, { exitCode: null, failure: 'there is no folder /x' }, false, 'there is no folder /x'],
  ])('with tests %j that ends with %j has passed: %j', (needed, ended, passed, why) => {
    const verdict = judgeGate(needed === undefined ? {} : { tests: needed }, end(ended));
    expect(verdict).toEqual({ passed, why: typeof why === 'string' ? why : expect.stringMatching(why) });
  });
});
