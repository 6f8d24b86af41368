import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../own-folder.ts';
import { type FoundRun, RunFolder, runsOf } from './run-folder.ts';
import { RunSeal } from './run-seal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const KEY = 'runs.key';
/** More missions than anybody has in a repository: the folder may be made by anybody. */
const MAX_RUNS = 1_000;

/** The folder of the last run of a mission, in the repository whose top level is `root`. */
export const runFolder = (root: string, mission: string, environment: Environment): RunFolder =>
  new RunFolder(root, mission, new RunSeal(join(stateFolder(environment), KEY)));

/** The last run of each mission of a repository, those that began last first, and those of others at the end. */
export function readRuns(root: string, environment: Environment): readonly FoundRun[] {
  return namesIn(runsOf(root))
    .flatMap((name) => {
      const folder = runFolder(root, name, environment);
      return folder.path === join(runsOf(root), name) ? (folder.read() ?? []) : [];
    })
    .sort((one, other) => beganAt(other) - beganAt(one));
}

const beganAt = (run: FoundRun): number => (run.kind === 'own' ? run.record.startedAtMs : 0);

function namesIn(folder: string): readonly string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder).sort().slice(0, MAX_RUNS);
}
