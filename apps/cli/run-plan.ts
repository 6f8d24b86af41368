import { resolve } from 'node:path';
import { defaultMission, type Mission, readMission, repositoryRoot, type Severity } from '@orrery/ralph-loop';
import { readSeverity, readWorkers } from './option-values.ts';
import { OutputFile } from './output-file.ts';
import { UsageError } from './usage-error.ts';

/** Options as they were typed; `true` for those without a value. */
export type TypedOptions = Readonly<Record<string, string | true>>;

/** Everything that `run` was asked for, checked before anything starts. */
export interface RunPlan {
  readonly mission: Mission;
  readonly root: string;
  readonly failOn: Severity | undefined;
  readonly workers: number | undefined;
  readonly json: OutputFile | undefined;
  readonly record: OutputFile | undefined;
}

/** Checks everything that can be checked before anything starts. Fails with UsageError or MissionError. */
export async function planRun(options: TypedOptions, positionals: readonly string[]): Promise<RunPlan> {
  const failOn = readSeverity(options['fail-on']);
  const workers = readWorkers(options['workers']);
  const repo = String(options['repo'] ?? '.');
  const repository = await repositoryRoot(repo);
  if ('refusal' in repository) throw new UsageError(`Option "--repo" is "${repo}": ${repository.refusal}`);
  const { root } = repository;
  const mission = await readMission(positionals[0] ?? defaultMission(root));
  const { json, record } = options;
  if (json !== undefined && record !== undefined && resolve(String(json)) === resolve(String(record))) {
    throw new UsageError(`Options "--json" and "--record" both name "${json}"`);
  }
  return { mission, root, failOn, workers, ...outputs(json, record) };
}

/** The first file is given up when the second cannot be opened. */
function outputs(json: string | true | undefined, record: string | true | undefined) {
  const jsonFile = json === undefined ? undefined : new OutputFile('--json', String(json));
  try {
    return {
      json: jsonFile,
      record: record === undefined ? undefined : new OutputFile('--record', String(record)),
    };
  } catch (error) {
    jsonFile?.discard();
    throw error;
  }
}
