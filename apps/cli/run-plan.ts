import { basename, resolve } from 'node:path';
import type { AgentSpec, Clock } from 'orrery';
import { type Baseline, changesCode, type RuleLevel, type Severity } from '@orrery/ralph-loop';
import { auditRules, refuseUnknownRules } from './audit-rules.ts';
import { type MeantMission, missionMeant } from './mission-meant.ts';
import {
  DEFAULT_PORT,
  readBaseline,
  readLevels,
  readPort,
  readProjectName,
  readSeverity,
  readTask,
  readWorkers,
} from './option-values.ts';
import { keptOptions } from './missions/kept-options.ts';
import { runFolder } from './missions/own-runs.ts';
import { repositoryTop } from './missions/repository-top.ts';
import type { BegunRun } from './missions/steered-run.ts';
import { unfinishedRun } from './missions/unfinished-run.ts';
import { OutputFile } from './output-file.ts';
import { skillsMeant } from './skills-meant.ts';
import { UsageError } from './usage-error.ts';
import { watchOptions } from './watch/watch-page.ts';
import type { WatchOptions } from 'orrery/gateway';

/** Options as typed; `true` for those without a value. */
export type TypedOptions = Readonly<Record<string, string | true>>;

/** The options that name an output file. */
const OUTPUTS = ['json', 'sarif', 'html', 'pull-request', 'record'] as const;
type Output = (typeof OUTPUTS)[number];

/** How a run is shown, and how much of its report is printed. */
export type Shown = 'progress' | 'board' | 'quiet' | 'verbose' | 'ndjson';

/** The checked options of `orrery run`. */
export interface RunPlan extends MeantMission {
  readonly failOn: Severity | undefined;
  readonly levels: ReadonlyMap<string, RuleLevel>;
  /** The earlier report, and its path. */
  readonly baseline: { readonly path: string; readonly findings: Baseline } | undefined;
  readonly shows: Shown;
  readonly workers: number | undefined;
  readonly explain: string | undefined;
  /** The path of the journal. */
  readonly journal: string | undefined;
  /** Whether tasks that the journal has accepted are skipped. */
  readonly isResumed: boolean;
  /** What is kept of it in the repository, if it changes that. */
  readonly kept: Omit<BegunRun, 'mission' | 'journal'> | undefined;
  /** Whether what is accepted is marked in the list that the mission was read from. */
  readonly isSynced: boolean;
  /** How the run is watched; undefined if it is not. */
  readonly watch: { readonly port: number; readonly options: WatchOptions } | undefined;
  /** The agents of the skills, and what the repository is called there; undefined if there are none. */
  readonly skills: { readonly agents: readonly AgentSpec[]; readonly project: string } | undefined;
  readonly outputs: { readonly [Option in Output]?: OutputFile };
}

/** Checks the options before anything starts. Throws UsageError or MissionError. */
export async function planRun(
  options: TypedOptions,
  positionals: readonly string[],
  clock: Clock,
): Promise<RunPlan> {
  const failOn = readSeverity(options['fail-on']);
  const workers = readWorkers(options['workers']);
  const levels = readLevels(options['rule']);
  const baseline = readBaseline(options['baseline']);
  const shows = readShown(options);
  const meant = await missionMeant(options, positionals);
  if (meant.isAudit && levels.size > 0) refuseUnknownRules(levels.keys(), await auditRules());
  const explain = readTask(options['explain'], meant.mission);
  if (explain !== undefined && shows === 'ndjson')
    throw new UsageError('Options "--explain" and "--ndjson" exclude each other');
  if (options['pull-request'] !== undefined && !meant.mission.tasks.some(changesCode))
    throw new UsageError(
      'Option "--pull-request" is given, but no task of the mission changes the repository',
    );
  const { journal: named, isResumed } = readJournal(options);
  const { kept, newJournal } = keptRun(meant, {
    options,
    positionals,
    isResumed,
    nowMs: clock.now(),
  });
  const watch = readWatch(options);
  const skills = await readSkills(options, meant.root);
  const outputs = openOutputs(options);
  return {
    ...meant,
    isSynced: options['sync'] === true,
    kept,
    journal: named ?? newJournal,
    ...{ watch, failOn, levels, baseline, shows, workers, explain, isResumed, skills, outputs },
  };
}

/** What is kept of a run that changes its repository. Throws UsageError if its last run was not finished and nobody says so. */
function keptRun(
  { mission, source, root }: MeantMission,
  {
    options,
    positionals,
    isResumed,
    nowMs,
  }: {
    readonly options: TypedOptions;
    readonly positionals: readonly string[];
    readonly isResumed: boolean;
    readonly nowMs: number;
  },
): { readonly kept?: RunPlan['kept']; readonly newJournal?: string } {
  const isAnew = options['anew'] === true;
  if (mission.code === undefined) {
    if (isAnew)
      throw new UsageError('Option "--anew" is given, but no task of the mission changes the repository');
    return {};
  }
  if (isAnew && isResumed) throw new UsageError('Options "--anew" and "--resume" exclude each other');
  const top = repositoryTop(root);
  const runs = runFolder(top, mission.name, process.env);
  const fault = unfinishedRun(runs, { isAnew, isResumed });
  if (fault !== undefined) throw new UsageError(fault);
  runs.make();
  const folder = process.cwd();
  // One that was found is as good as one that was named.
  const file = positionals.length > 0 ? positionals : [resolve(source.file)];
  return {
    kept: { root: top, folder, kept: keptOptions(options, file, folder) },
    newJournal: runs.newJournal(nowMs),
  };
}

function readShown(options: TypedOptions): Shown {
  const asked = (['board', 'quiet', 'verbose', 'ndjson'] as const).filter((name) => options[name] === true);
  const [first = 'progress', other] = asked;
  if (other !== undefined) throw new UsageError(`Options "--${first}" and "--${other}" exclude each other`);
  return first;
}

function readWatch(options: TypedOptions): RunPlan['watch'] {
  const port = readPort('--watch-port', options['watch-port']) ?? DEFAULT_PORT;
  if (options['watch'] === true) return { port, options: watchOptions(options) };
  for (const option of ['watch-port', 'unlock'])
    if (options[option] !== undefined)
      throw new UsageError(`Option "--${option}" is given without "--watch"`);
  return undefined;
}

async function readSkills(options: TypedOptions, root: string): Promise<RunPlan['skills']> {
  const { project = basename(root) } = options;
  const agents = await skillsMeant(options, root);
  if (agents.length > 0) return { agents, project: readProjectName(project) };
  if (options['project'] !== undefined)
    throw new UsageError('Option "--project" is given without "--skills"');
  return undefined;
}

function readJournal({ journal, resume }: TypedOptions): Pick<RunPlan, 'journal' | 'isResumed'> {
  const isResumed = resume !== undefined;
  if (isResumed && journal === undefined)
    throw new UsageError('Option "--resume" needs "--journal FILE", the journal of the run to go on with');
  return { journal: journal === undefined ? undefined : resolve(String(journal)), isResumed };
}

/** Opens all outputs. If one cannot be opened, the others are discarded. */
function openOutputs(options: TypedOptions): RunPlan['outputs'] {
  const paths = new Map<string, string>();
  for (const option of OUTPUTS) {
    const path = options[option];
    if (path === undefined) continue;
    const other = paths.get(resolve(String(path)));
    if (other !== undefined)
      throw new UsageError(`Options "--${other}" and "--${option}" both name "${path}"`);
    paths.set(resolve(String(path)), option);
  }
  const files: { [Option in Output]?: OutputFile } = {};
  try {
    for (const option of OUTPUTS) {
      const path = options[option];
      if (path !== undefined) files[option] = new OutputFile(`--${option}`, String(path));
    }
    return files;
  } catch (error) {
    for (const file of Object.values(files)) file.discard();
    throw error;
  }
}
