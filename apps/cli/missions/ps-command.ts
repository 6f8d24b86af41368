import type { CommandDeps } from '../command.ts';
import type { TypedOptions } from '../run-plan.ts';
import { NotAnswered, stateOf } from './order-run.ts';
import { readRuns } from './own-runs.ts';
import { type ShownRun, runLines } from './ps-lines.ts';
import { repositoryMeant } from './repository-top.ts';
import type { FoundRun } from './run-folder.ts';

/** Runs `orrery ps`: shows the last run of each mission of a repository. Resolves to the exit code. */
export async function psCommand(
  options: TypedOptions,
  { screen, clock }: Pick<CommandDeps, 'screen' | 'clock'>,
): Promise<number> {
  const root = await repositoryMeant(options);
  const runs = await Promise.all(readRuns(root, process.env).map(shown));
  const text =
    options['json'] === true
      ? JSON.stringify(runs, null, 2)
      : runLines(runs, { root, nowMs: clock.now() }).join('\n');
  screen.write(`${text}\n`);
  return 0;
}

async function shown(run: FoundRun): Promise<ShownRun> {
  if (run.kind === 'foreign') return { status: 'foreign', mission: run.name, file: run.file, why: run.why };
  const { record, status } = run;
  const {
    mission,
    file,
    startedAtMs,
    ended,
    process: { pid },
  } = record;
  const facts = { mission, ...(file === undefined ? {} : { file }), pid, startedAtMs };
  if (status !== 'running') return { status, ...facts, ...(ended === undefined ? {} : { ended }) };
  try {
    return { status, ...facts, state: await stateOf(record) };
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error;
    return { status, ...facts, why: error.message };
  }
}
