import { z } from 'zod';
import { parseJson } from '../json-fault.ts';
import { MissionError } from '../mission-error.ts';
import { schemaFaults } from '../schema-faults.ts';
import { type ForeignTask, type ForeignText, given, joined, repeatedKeys } from './foreign-mission.ts';
import type { RunProgram } from './run-program.ts';

/** One issue waits for another; `bd list` and `bd show` say it in different words. */
const Dependency = z.looseObject({
  id: z.string().optional(),
  depends_on_id: z.string().optional(),
  type: z.string().optional(),
  dependency_type: z.string().optional(),
});

const Issue = z.looseObject({
  id: z.string().min(1),
  title: z.string().min(1),
  description: z.string().nullish(),
  design: z.string().nullish(),
  notes: z.string().nullish(),
  acceptance_criteria: z.string().nullish(),
  status: z.string().nullish(),
  priority: z.int().min(0).nullish(),
  dependency_count: z.int().nullish(),
  dependencies: z.array(Dependency).nullish(),
});
type Issue = z.infer<typeof Issue>;

const STATES: Readonly<Record<string, ForeignTask['state']>> = {
  closed: 'done',
  tombstone: 'done',
  deferred: 'put-off',
  pinned: 'put-off',
};
/** How many issues are asked for one by one at most. */
const MAX_SHOWN = 500;

/** Asks `bd` for the issues of a folder. Rejects with MissionError if it is not installed, or fails. */
export async function listBeads(folder: string, run: RunProgram): Promise<unknown> {
  const listed = await askBeads(['list', '--json', '--limit', '0'], folder, run);
  if (!Array.isArray(listed)) return listed;
  const counted = (listed as readonly unknown[]).flatMap((issue) => {
    const { data } = Issue.safeParse(issue);
    return data !== undefined && (data.dependency_count ?? 0) > 0 && !data.dependencies ? [data.id] : [];
  });
  const ids = counted.slice(0, MAX_SHOWN);
  if (ids.length === 0) return listed;
  const shown = await askBeads(['show', ...ids, '--json'], folder, run);
  const whole = new Map(
    (Array.isArray(shown) ? shown : [shown]).map((issue: unknown) => [idOf(issue), issue]),
  );
  return (listed as readonly unknown[]).map((issue) => whole.get(idOf(issue)) ?? issue);
}

const idOf = (issue: unknown): string => Issue.safeParse(issue).data?.id ?? '';

/** Closes an issue. Rejects with MissionError if `bd` does not. */
export async function closeBead(key: string, folder: string, run: RunProgram): Promise<void> {
  await callBeads(['close', key], folder, run);
}

async function askBeads(args: readonly string[], folder: string, run: RunProgram): Promise<unknown> {
  const parsed = parseJson(await callBeads(args, folder, run));
  if ('value' in parsed) return parsed.value;
  throw new MissionError(folder, [`bd ${args[0]} printed no JSON: ${parsed.fault.reason}`]);
}

async function callBeads(args: readonly string[], folder: string, run: RunProgram): Promise<string> {
  const { exitCode, stdout, stderr } = await run('bd', args, folder);
  if (exitCode === 0) return stdout;
  if (exitCode === undefined)
    throw new MissionError(folder, ['the program bd, which keeps the issues of beads, is not installed']);
  const why = stderr.trim().slice(0, 500) || 'it said nothing';
  throw new MissionError(folder, [`bd ${args.join(' ')} ended with ${exitCode}: ${why}`]);
}

/** The tasks that the issues of beads are. An issue that is not listed is closed, and nothing waits for it. */
export function readBeads(value: unknown): ForeignText {
  const parsed = z.array(Issue).safeParse(value);
  if (!parsed.success) return { faults: schemaFaults(parsed.error, value, 'what bd printed') };
  const ids = new Set(parsed.data.map(({ id }) => id));
  const parts = new Map<string, string[]>();
  for (const { id, dependencies } of parsed.data)
    for (const { key, type } of linksOf(dependencies))
      if (type === 'parent-child') parts.set(key, [...(parts.get(key) ?? []), id]);
  const tasks = parsed.data.map((issue) => taskOf(issue, { ids, parts: parts.get(issue.id) ?? [] }));
  const faults = repeatedKeys(tasks);
  return faults.length > 0 ? { faults } : { mission: { tasks } };
}

const linksOf = (dependencies: Issue['dependencies']) =>
  (dependencies ?? []).map(({ id, depends_on_id, type, dependency_type }) => ({
    key: depends_on_id ?? id ?? '',
    type: dependency_type ?? type ?? 'blocks',
  }));

function taskOf(
  issue: Issue,
  { ids, parts }: { readonly ids: ReadonlySet<string>; readonly parts: readonly string[] },
): ForeignTask {
  const { id, title, description, design, notes, acceptance_criteria: criteria, status, priority } = issue;
  const blockers = linksOf(issue.dependencies).filter(({ key, type }) => type === 'blocks' && ids.has(key));
  return {
    key: id,
    title,
    ...given('description', joined(description ?? undefined, design ?? undefined, notes ?? undefined)),
    ...given('acceptance', joined(criteria ?? undefined)?.split(/\n+/)),
    ...given('priority', priority === undefined || priority === null ? undefined : priority + 1),
    // What is a whole of others is over after them.
    dependsOn: [...new Set([...blockers.map(({ key }) => key), ...parts])],
    state: STATES[status ?? 'open'] ?? 'open',
    place: `issue ${id}`,
  };
}
