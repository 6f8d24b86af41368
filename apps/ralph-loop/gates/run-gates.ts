import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secretsIn } from 'orrery/coding';
import type { MissionGate } from '../mission/mission.ts';
import { gateEnvironment } from './gate-environment.ts';
import { gateFeedback } from './gate-feedback.ts';
import type { GateReceipt } from './gate-receipt.ts';
import { type RunGateDeps, runGate } from './run-gate.ts';

/** What happens while gates are run. */
export type GateEvent =
  | { readonly type: 'gate.started'; readonly gate: string }
  | { readonly type: 'gate.ended'; readonly receipt: GateReceipt };

/**
 * What gates are run with, beside what each gets.
 *
 * - `env`       of this process, from which each gets its own.
 * - `logFolder` for a log of each.
 * - `newMark`   a mark that no other process has, at each call.
 * - `report`    is told what happens.
 */
export interface RunGatesDeps extends Omit<RunGateDeps, 'logFile' | 'mark' | 'env'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFolder: string;
  readonly newMark: () => string;
  readonly report?: (event: GateEvent) => void;
}

/**
 * What gates have said.
 *
 * - `receipts` of those that were run, in order.
 * - `notRun`   names of those that were not, because one before them failed.
 * - `feedback` for the next attempt, if one has failed.
 */
export interface GatesVerdict {
  readonly passed: boolean;
  readonly receipts: readonly GateReceipt[];
  readonly notRun: readonly string[];
  readonly feedback?: string;
}

/**
 * Runs gates one after another, until one fails: feedback is about one thing. Without gates everything passes.
 *
 * @throws what the file system says, if a log cannot be made
 */
export async function runGates(gates: readonly MissionGate[], deps: RunGatesDeps): Promise<GatesVerdict> {
  const receipts: GateReceipt[] = [];
  for (const [index, gate] of gates.entries()) {
    deps.report?.({ type: 'gate.started', gate: gate.name });
    // Names may differ in case only, or be the same in two lists.
    const logFile = join(deps.logFolder, `${index + 1}-${gate.name}.log`);
    const env = gateEnvironment(deps.env, { cwd: deps.cwd, passEnv: gate.passEnv });
    const receipt = await runGate(gate, { ...deps, env, logFile, mark: deps.newMark() });
    receipts.push(receipt);
    deps.report?.({ type: 'gate.ended', receipt });
    if (receipt.passed) continue;
    const notRun = gates.slice(index + 1).map(({ name }) => name);
    const log = await readFile(logFile, 'utf8');
    const feedback = gateFeedback(receipt, log, { secrets: secretsIn(env), notRun });
    return { passed: false, receipts, notRun, feedback };
  }
  return { passed: true, receipts, notRun: [] };
}
