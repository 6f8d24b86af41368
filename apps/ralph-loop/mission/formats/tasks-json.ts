import { z } from 'zod';
import { isRecord } from '../is-record.ts';
import { schemaFaults } from '../schema-faults.ts';
import { type ForeignTask, type ForeignText, given, joined, repeatedKeys } from './foreign-mission.ts';

const Key = z.union([z.string().min(1), z.number()], { error: 'expected a text or a number' });
const fields = {
  id: Key,
  title: z.string().min(1),
  description: z.string().nullish(),
  details: z.string().nullish(),
  testStrategy: z.string().nullish(),
  status: z.string().nullish(),
  dependencies: z.array(Key).nullish(),
};
const Subtask = z.looseObject(fields);
type Subtask = z.infer<typeof Subtask>;

const Task = z.looseObject({
  ...fields,
  priority: z.string().nullish(),
  subtasks: z.array(Subtask).nullish(),
});
type Task = z.infer<typeof Task>;

/** The tasks of one tag. */
const Tagged = z.looseObject({ tasks: z.array(Task).min(1) });

const PRIORITIES: Readonly<Record<string, number>> = { critical: 1, high: 1, medium: 2, low: 3 };
const STATES: Readonly<Record<string, ForeignTask['state']>> = {
  done: 'done',
  completed: 'done',
  cancelled: 'put-off',
  deferred: 'put-off',
};

/** Which tag of a `tasks.json` is meant, and the path to its tasks: the one named, or the only one. */
export function tagOf(
  value: unknown,
  named: string | undefined,
): { readonly tag?: string; readonly path: readonly string[] } | { readonly faults: readonly string[] } {
  if (!isRecord(value)) return { faults: ['the file: expected object'] };
  if (named === undefined && Array.isArray(value['tasks'])) return { path: [] };
  const tags = Object.keys(value).filter((key) => isTagged(value[key]));
  const [only, other] = tags;
  const tag = named ?? only;
  const listed = tags.length === 0 ? 'it has none' : `it has ${tags.join(', ')}`;
  if (tag === undefined) return { faults: [`the file: expected a tag with tasks; ${listed}`] };
  if (!tags.includes(tag)) return { faults: [`the tag "${tag}" is not there; ${listed}`] };
  if (named === undefined && other !== undefined)
    return { faults: [`several tags; ${listed}: --tag NAME says which is meant`] };
  return { tag, path: [tag] };
}

const isTagged = (value: unknown): boolean => isRecord(value) && Array.isArray(value['tasks']);

/** The tasks of one tag of a `tasks.json`, which is parsed already. A task comes after its subtasks, which are `1.2`. */
export function readTasksJson(value: unknown, named?: string): ForeignText {
  const tag = tagOf(value, named);
  if ('faults' in tag) return tag;
  const tagged = tag.path.reduce((at, key) => (at as Readonly<Record<string, unknown>>)[key], value);
  const parsed = Tagged.safeParse(tagged);
  const field = tag.path.map((key) => `${key}.`).join('');
  if (!parsed.success)
    return { faults: schemaFaults(parsed.error, tagged).map((fault) => `${field}${fault}`) };
  const tasks = parsed.data.tasks.flatMap((task, index) => withSubtasks(task, `${field}tasks[${index}]`));
  const faults = repeatedKeys(tasks);
  return faults.length > 0 ? { faults } : { mission: { ...given('name', tag.tag), tasks } };
}

function withSubtasks(task: Task, place: string): ForeignTask[] {
  const parent = String(task.id);
  const waits = (task.dependencies ?? []).map(String);
  const state = stateOf(task);
  const subtasks = (task.subtasks ?? []).map((subtask, index, all): ForeignTask => {
    const siblings = new Set(all.map(({ id }) => String(id)));
    const own = (subtask.dependencies ?? []).map(String);
    return {
      ...told(subtask),
      key: `${parent}.${subtask.id}`,
      ...given('priority', priorityOf(task)),
      // A number among subtasks means one of them; only where there is none, a task.
      dependsOn: [...waits, ...own.map((id) => (siblings.has(id) ? `${parent}.${id}` : id))],
      state: state === 'open' ? stateOf(subtask) : stateOf(subtask) === 'done' ? 'done' : state,
      place: `${place}.subtasks[${index}]`,
    };
  });
  const parts = subtasks.filter((one) => one.state !== 'put-off').map(({ key }) => key);
  return [
    ...subtasks,
    {
      ...told(task),
      key: parent,
      ...given('priority', priorityOf(task)),
      dependsOn: [...waits, ...parts],
      state,
      place,
    },
  ];
}

const told = ({ title, description, details, testStrategy }: Subtask) => ({
  title,
  ...given('description', joined(description ?? undefined, details ?? undefined)),
  ...given('acceptance', joined(testStrategy ?? undefined)?.split(/\n+/)),
});

const stateOf = ({ status }: Subtask): ForeignTask['state'] => STATES[status ?? 'pending'] ?? 'open';
const priorityOf = ({ priority }: Task): number | undefined => PRIORITIES[priority ?? ''];
