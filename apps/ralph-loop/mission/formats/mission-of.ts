import { isRecord } from '../is-record.ts';
import type { PlacedDefaults } from '../mission-defaults.ts';
import { MissionError } from '../mission-error.ts';
import { checkMission } from '../check-mission.ts';
import type { LeftOutTask, MissionSource } from '../mission-source.ts';
import type { SourcedMission } from '../read-mission-source.ts';
import type { ForeignMission, ForeignTask } from './foreign-mission.ts';
import { plainIds } from './plain-ids.ts';

/** How often a task of a format without limits may be worked on. */
const MAX_ATTEMPTS = 3;
const HOW_TO_GATE =
  'expected at least one gate, and this format has none: write them in orrery.json at the root of the repository, ' +
  'such as {"version":1,"code":{"gates":[{"name":"test","run":"npm test"}]}}';

/** How a foreign mission is made one of ours; `name` is for one that has none. */
export interface MissionOfOptions {
  readonly source: Pick<MissionSource, 'format' | 'file' | 'tag'>;
  readonly name: string;
  readonly defaults: PlacedDefaults | undefined;
}

/** The mission that a foreign one is. Throws MissionError, naming all faults, or when nothing is left to be done. */
export function missionOf(
  foreign: ForeignMission,
  { source, name, defaults }: MissionOfOptions,
): SourcedMission {
  const { file } = source;
  const states = statesOf(foreign.tasks);
  const open = foreign.tasks.filter(({ key }) => states.get(key) === undefined);
  const unknown = unknownKeys(foreign.tasks);
  if (unknown.length > 0) throw new MissionError(file, unknown);
  const leftOut = foreign.tasks.flatMap(({ key, place }): LeftOutTask[] => {
    const why = states.get(key);
    return why === undefined ? [] : [{ key, place, why }];
  });
  if (open.length === 0) throw new MissionError(file, [nothingLeft(leftOut)]);
  if ((defaults?.defaults.code?.gates ?? []).length === 0)
    throw new MissionError(file, [`code.gates: ${HOW_TO_GATE}`]);
  const ids = plainIds(foreign.tasks.map(({ key }) => key));
  const tasks = open.map((task) => taskOf(task, { ids, states }));
  const mission = checkMission(
    {
      version: 1,
      name: foreign.name ?? name,
      ...(foreign.description === undefined ? {} : { description: foreign.description }),
      code: foreign.branch === undefined ? {} : { branch: foreign.branch },
      limits: hasLimit(defaults) ? {} : { maxAttempts: MAX_ATTEMPTS },
      tasks,
    },
    file,
    defaults,
  );
  const sources = open.map(({ key, place }) => [ids.get(key) ?? key, { key, place }] as const);
  return { mission, source: { ...source, tasks: Object.fromEntries(sources), leftOut } };
}

const hasLimit = (defaults: PlacedDefaults | undefined): boolean => {
  const limits = defaults?.defaults.limits;
  return isRecord(limits) && limits['maxAttempts'] !== undefined;
};

/** Why tasks are left out, by their keys. What waits for one that is put off is left out too. */
function statesOf(tasks: readonly ForeignTask[]): ReadonlyMap<string, string> {
  const states = new Map<string, string>();
  const dependents = new Map<string, ForeignTask[]>();
  for (const task of tasks) {
    if (task.state === 'done') states.set(task.key, 'it is done');
    if (task.state === 'put-off') states.set(task.key, 'it is put off');
    for (const key of task.dependsOn) {
      const known = dependents.get(key);
      if (known === undefined) dependents.set(key, [task]);
      else known.push(task);
    }
  }
  const putOff = tasks.filter(({ state }) => state === 'put-off').map(({ key }) => key);
  for (const key of putOff)
    for (const task of dependents.get(key) ?? []) {
      if (states.has(task.key)) continue;
      states.set(task.key, `it waits for ${key}, which is left out`);
      putOff.push(task.key);
    }
  return states;
}

function unknownKeys(tasks: readonly ForeignTask[]): string[] {
  const known = new Set(tasks.map(({ key }) => key));
  return tasks.flatMap(({ place, dependsOn }) =>
    dependsOn
      .filter((key) => !known.has(key))
      .map((key) => `${place}: it waits for "${key}", which no task has as its id`),
  );
}

const nothingLeft = (leftOut: readonly LeftOutTask[]): string =>
  leftOut.length === 0
    ? 'it has no tasks'
    : `nothing is left to do: of ${leftOut.length} tasks each is done or put off`;

interface Known {
  readonly ids: ReadonlyMap<string, string>;
  readonly states: ReadonlyMap<string, string>;
}

function taskOf(
  { key, title, description, acceptance, priority, dependsOn }: ForeignTask,
  { ids, states }: Known,
) {
  const waits = [...new Set(dependsOn)].filter((one) => !states.has(one)).map((one) => ids.get(one) ?? one);
  return {
    id: ids.get(key) ?? key,
    title,
    ...(description === undefined ? {} : { description }),
    ...(acceptance === undefined ? {} : { acceptance }),
    ...(priority === undefined ? {} : { priority }),
    ...(waits.length === 0 ? {} : { dependsOn: waits }),
  };
}
