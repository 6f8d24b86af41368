import { readChecklist } from './formats/checklist.ts';
import { repeatedKeys } from './formats/foreign-mission.ts';
import { readPrdJson } from './formats/prd-json.ts';
import { readTasksJson, tagOf } from './formats/tasks-json.ts';
import { setField, type TextEdit } from './json-edit.ts';
import { type JsonPlace, jsonPlaces } from './json-places.ts';
import { MissionError } from './mission-error.ts';
import type { MissionSource } from './mission-source.ts';
import { parseJsonData } from './read-data.ts';

/** The edit for each task; undefined for one that is marked already. */
export type Marks = ReadonlyMap<string, TextEdit | undefined>;

/** What marks each of the tasks with these keys as done in a text of its format, and no other. Rejects with MissionError. */
export async function markDone(text: string, keys: readonly string[], source: MissionSource): Promise<Marks> {
  switch (source.format) {
    case 'prd':
      return marksIn(text, {
        keys,
        source,
        objects: stories(text, source.file),
        field: 'passes',
        value: true,
      });
    case 'taskmaster':
      return marksIn(text, { keys, source, objects: tasks(text, source), field: 'status', value: 'done' });
    case 'checklist':
      return checklistMarks(text, keys, source);
    default:
      return new Map();
  }
}

interface Wanted {
  readonly keys: readonly string[];
  readonly source: MissionSource;
  readonly objects: ReadonlyMap<string, JsonPlace>;
  readonly field: string;
  readonly value: string | boolean;
}

function marksIn(text: string, { keys, source, objects, field, value }: Wanted): Marks {
  refuseAbsent(keys, objects, source);
  return new Map(
    keys.flatMap((key) => {
      const object = objects.get(key);
      return object === undefined ? [] : [[key, setField(text, object, { field, value })] as const];
    }),
  );
}

/** The stories of a `prd.json` by their ids. */
function stories(text: string, file: string): ReadonlyMap<string, JsonPlace> {
  const read = readPrdJson(parseJsonData(text, file));
  if ('faults' in read) throw new MissionError(file, read.faults);
  return byId(text, jsonPlaces(text)?.fields?.get('userStories')?.items ?? []);
}

/** The tasks and subtasks of a tag by their ids; subtasks as `1.2`. */
function tasks(text: string, { file, tag }: MissionSource): ReadonlyMap<string, JsonPlace> {
  const value = parseJsonData(text, file);
  const read = readTasksJson(value, tag);
  const meant = tagOf(value, tag);
  if ('faults' in read) throw new MissionError(file, read.faults);
  if ('faults' in meant) throw new MissionError(file, meant.faults);
  const tagged = meant.path.reduce<JsonPlace | undefined>(
    (at, key) => at?.fields?.get(key),
    jsonPlaces(text),
  );
  const whole = byId(text, tagged?.fields?.get('tasks')?.items ?? []);
  const parts = [...whole].flatMap(([id, { fields }]) =>
    [...byId(text, fields?.get('subtasks')?.items ?? [])].map(
      ([sub, place]) => [`${id}.${sub}`, place] as const,
    ),
  );
  return new Map([...parts, ...whole]);
}

const byId = (text: string, objects: readonly JsonPlace[]): ReadonlyMap<string, JsonPlace> =>
  new Map(
    objects.flatMap((object) => {
      const id = object.fields?.get('id');
      return id === undefined ? [] : [[String(JSON.parse(text.slice(id.start, id.end))), object] as const];
    }),
  );

async function checklistMarks(text: string, keys: readonly string[], source: MissionSource): Promise<Marks> {
  const { items } = await readChecklist(text, source.file);
  const tasks = items.map((item) => ({
    ...item,
    dependsOn: [],
    state: 'open' as const,
    place: `line ${item.line}`,
  }));
  const repeated = repeatedKeys(tasks);
  if (repeated.length > 0) throw new MissionError(source.file, repeated);
  const known = new Map(items.map((item) => [item.key, item]));
  refuseAbsent(keys, known, source);
  return new Map(
    keys.flatMap((key) => {
      const item = known.get(key);
      if (item === undefined) return [];
      const mark = { start: item.mark, end: item.mark + 1, text: 'x' };
      return [[key, item.isChecked ? undefined : mark] as const];
    }),
  );
}

/** What is done is kept elsewhere too; a file that has lost a task is not guessed at. */
function refuseAbsent(
  keys: readonly string[],
  known: ReadonlyMap<string, unknown>,
  source: MissionSource,
): void {
  const faults = keys.filter((key) => !known.has(key)).map((key) => `the task "${key}" is no longer there`);
  if (faults.length > 0) throw new MissionError(source.file, faults);
}
