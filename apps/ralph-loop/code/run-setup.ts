import { type Clock, refused } from 'orrery';
import { gateEnvironment } from '../gates/gate-environment.ts';
import { runGate } from '../gates/run-gate.ts';
import { type MissionSetup, setupGate } from '../mission/mission.ts';

/** - `path` the worktree. - `logFile` for what the command prints. */
export interface SetupDeps {
  readonly path: string;
  readonly logFile: string;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly newMark: () => string;
}

/** Makes a new worktree ready. It is run as gates are. Throws REFUSED with its receipt's sentence if it fails. */
export async function runSetup(setup: MissionSetup, deps: SetupDeps): Promise<void> {
  const { path, logFile, signal, clock, env, newMark } = deps;
  const gate = setupGate(setup);
  const given = gateEnvironment(env, { cwd: path, passEnv: gate.passEnv });
  const receipt = await runGate(gate, { cwd: path, logFile, signal, clock, env: given, mark: newMark() });
  if (!receipt.passed)
    throw refused(`The worktree could not be made ready: ${receipt.command}: ${receipt.why}`, { receipt });
}
