import type { CommandDeps } from '../command.ts';
import { runCommand } from '../run-command.ts';
import type { TypedOptions } from '../run-plan.ts';
import { UsageError } from '../usage-error.ts';
import { readRuns } from './own-runs.ts';
import { repositoryMeant } from './repository-top.ts';
import { runToResume } from './run-meant.ts';
import type { RunRecord } from './run-record.ts';

/** Runs `orrery resume`: goes on with a run that was not finished, as it was typed. Resolves to the exit code of the run. */
export async function resumeCommand(
  options: TypedOptions,
  [name]: readonly string[],
  deps: CommandDeps,
): Promise<number> {
  const root = await repositoryMeant(options);
  const record = runToResume(readRuns(root, process.env), { root, name, place: 'Argument NAME' });
  const { file } = record;
  const resumed = resumedOptions(record);
  // What was not typed is of the folder that it was typed in, such as its agents.
  enter(record.folder);
  return await runCommand(resumed, file === undefined ? [] : [file], deps);
}

/** The options of the command that goes on with a run. Throws UsageError where some were not kept. */
export function resumedOptions({ mission, options, leftOut, journal }: RunRecord): TypedOptions {
  const [left] = leftOut;
  if (left === undefined) return { ...options, journal, resume: true };
  throw new UsageError(
    `"${mission}" was begun with "--${left}", which holds a password and was not kept; type its command again with --${left}, --journal ${journal} and --resume`,
  );
}

function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (error) {
    throw new UsageError(
      `The folder ${folder}, in which it was begun, cannot be entered: ${(error as Error).message}`,
    );
  }
}
