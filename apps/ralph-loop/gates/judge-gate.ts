import { constants } from 'node:os';
import type { MissionGate } from '../mission/mission.ts';
import { count, duration } from '../report/printable.ts';
import type { TestCount } from './gate-receipt.ts';

/**
 * How the process of a gate ended.
 *
 * - `failure`  it could not be started, or its output not be kept, for this reason.
 * - `endedFor` Orrery ended it: its time was over, or somebody stopped it.
 */
export interface GateEnd {
  readonly exitCode: number | null;
  readonly signal?: string | undefined;
  readonly failure?: string | undefined;
  readonly endedFor?: 'time' | 'stop' | undefined;
  readonly timeoutMs: number;
  readonly tests?: TestCount | undefined;
}

/** Says whether a gate has passed, and why. */
export function judgeGate(
  gate: Pick<MissionGate, 'tests'>,
  end: GateEnd,
): { readonly passed: boolean; readonly why: string } {
  const broken = brokenBy(end);
  if (broken !== undefined) return { passed: false, why: broken };
  const lacking = lackOfTests(gate.tests, end.tests);
  if (lacking !== undefined) return { passed: false, why: `exit code 0, but ${lacking}` };
  const ran = end.tests === undefined ? '' : `, ${ofTests(end.tests)}`;
  return { passed: true, why: `exit code 0${ran}` };
}

/** How many tests must have run; undefined when nothing is asked. */
const neededTests = (tests: MissionGate['tests']): number | undefined =>
  tests === undefined || tests === false ? undefined : Number(tests);

function brokenBy({ exitCode, signal, failure, endedFor, timeoutMs, tests }: GateEnd): string | undefined {
  if (endedFor === 'time') return `not over after ${duration(timeoutMs)}, so it was ended`;
  if (endedFor === 'stop') return 'stopped before it was over';
  if (failure !== undefined) return failure;
  if (exitCode === 0) return undefined;
  if (exitCode === null) return `ended by ${signal ?? 'an unknown signal'}`;
  const ran = tests === undefined ? '' : `; ${ofTests(tests)}`;
  return `exit code ${exitCode}${meaningOf(exitCode)}${ran}`;
}

/** What shells say by an exit code, and programs do not. */
function meaningOf(exitCode: number): string {
  if (exitCode === 127) return ': a command was not found';
  if (exitCode === 126) return ': a command is no program that may be run';
  const [signal] = Object.entries(constants.signals).find(([, value]) => value === exitCode - 128) ?? [];
  return signal === undefined ? '' : `: a command was ended by ${signal}`;
}

function lackOfTests(tests: MissionGate['tests'], found: TestCount | undefined): string | undefined {
  const needed = neededTests(tests);
  if (needed === undefined) return undefined;
  if (found === undefined) {
    return 'no test ran that is known of: its output has no summary of a test runner, and no line such as "5 passed, 0 failed"';
  }
  const { passed, failed, skipped } = found;
  if (failed > 0) return `${count(failed, 'test')} failed of ${passed + failed} that ran`;
  if (passed === 0) return `no test ran${skipped === 0 ? '' : `: ${skipped} left out`}`;
  if (passed < needed) return `only ${count(passed, 'test')} ran of ${needed} that must`;
  return undefined;
}

function ofTests({ passed, failed, skipped }: TestCount): string {
  const leftOut = skipped === 0 ? '' : `, ${skipped} left out`;
  return failed === 0
    ? `${count(passed, 'test')} passed${leftOut}`
    : `${failed} of ${count(passed + failed, 'test')} failed${leftOut}`;
}
