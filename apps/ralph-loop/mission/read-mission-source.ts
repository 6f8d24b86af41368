import { basename, dirname, resolve } from 'node:path';
import { checkMission } from './check-mission.ts';
import { listBeads, readBeads } from './formats/beads.ts';
import { readChecklist, tasksOfChecklist } from './formats/checklist.ts';
import type { ForeignText } from './formats/foreign-mission.ts';
import { missionOf } from './formats/mission-of.ts';
import { readPrdJson } from './formats/prd-json.ts';
import { type RunProgram, runProgram } from './formats/run-program.ts';
import { readTasksJson, tagOf } from './formats/tasks-json.ts';
import { isRecord } from './is-record.ts';
import type { Mission } from './mission.ts';
import type { PlacedDefaults } from './mission-defaults.ts';
import { MissionError } from './mission-error.ts';
import type { MissionFormat, MissionSource } from './mission-source.ts';
import { parseData, readMissionText, tellKind } from './read-data.ts';

/**
 * How a mission is read.
 *
 * - `defaults` of its repository, as `readDefaults` has them.
 * - `tag`      of the tasks that are meant, in a `tasks.json`.
 * - `run`      runs `bd`. @default a process
 */
export interface ReadMissionOptions {
  readonly defaults?: PlacedDefaults | undefined;
  readonly tag?: string | undefined;
  readonly run?: RunProgram;
}

/** A mission, and where each of its tasks comes from. */
export interface SourcedMission {
  readonly mission: Mission;
  readonly source: MissionSource;
}

/** The folder of beads. */
const BEADS = '.beads';
const MARKDOWN = /\.(?:md|markdown)$/i;
/** Files that many folders have: the folder says more. */
const COMMON_NAMES = new Set(['tasks.md', 'tasks.json', 'prd.json']);
const COMMON_FOLDERS = new Set(['tasks', '.taskmaster', 'ralph', 'scripts', '.']);

/**
 * Reads a mission of any format, and says where its tasks come from. Which format it is, its content and its name say. Rejects
 * with MissionError, naming all faults.
 */
export async function readMissionSource(
  file: string,
  options: ReadMissionOptions = {},
): Promise<SourcedMission> {
  const { defaults, tag, run = runProgram } = options;
  const refuseTag = (): void => {
    if (tag !== undefined)
      throw new MissionError(file, [`the tag "${tag}" is named, but only a tasks.json has tags`]);
  };
  const found = async (format: MissionFormat, foreign: ForeignText, tagged?: string) => {
    if ('faults' in foreign) throw new MissionError(file, foreign.faults);
    const source = { format, file, ...(tagged === undefined ? {} : { tag: tagged }) };
    return missionOf(foreign.mission, { source, name: nameAfter(file), defaults });
  };
  if (basename(file) === BEADS && (await tellKind(file)) === 'folder') {
    refuseTag();
    return found('beads', readBeads(await listBeads(dirname(resolve(file)), run)));
  }
  const text = await readMissionText(file);
  if (MARKDOWN.test(file)) {
    refuseTag();
    return found('checklist', tasksOfChecklist(await readChecklist(text, file)));
  }
  const value = await parseData(text, file);
  if (isTasksJson(value, file)) {
    const meant = tagOf(value, tag);
    return found('taskmaster', readTasksJson(value, tag), 'faults' in meant ? undefined : meant.tag);
  }
  refuseTag();
  if (isRecord(value) && Array.isArray(value['userStories'])) return found('prd', readPrdJson(value));
  return {
    mission: checkMission(value, file, defaults),
    source: { format: 'orrery', file, tasks: {}, leftOut: [] },
  };
}

/** Whether a value has tags with tasks, and nothing that only a mission of ours has. */
function isTasksJson(value: unknown, file: string): boolean {
  if (!isRecord(value) || ['version', 'name', 'limits'].some((field) => isPlain(value[field]))) return false;
  if (Array.isArray(value['tasks'])) return basename(file) === 'tasks.json';
  return Object.values(value).some((tagged) => isRecord(tagged) && Array.isArray(tagged['tasks']));
}

/** Whether a field is there, and is no tag of that name. */
const isPlain = (value: unknown): boolean =>
  value !== undefined && !(isRecord(value) && Array.isArray(value['tasks']));

/** A name for a mission whose file says none. */
function nameAfter(file: string): string {
  const path = resolve(file);
  if (!COMMON_NAMES.has(basename(path)) && basename(path) !== BEADS)
    return basename(path).replace(/^@|\.[^.]*$/g, '') || 'mission';
  let folder = dirname(path);
  while (COMMON_FOLDERS.has(basename(folder)) && dirname(folder) !== folder) folder = dirname(folder);
  return basename(folder) || 'mission';
}
