import { type MissionTask, waitsFor } from './mission.ts';

/** The order that the tasks of a mission are in by what they wait for. */
export interface MissionGraph {
  /** Ids in waves: a wave waits for those before it, and for nothing in itself. */
  readonly waves: readonly (readonly string[])[];
  /** The longest row of tasks that wait for each other, by `estimateMs` and then by number. */
  readonly criticalPath: readonly string[];
}

interface Reached {
  readonly wave: number;
  readonly estimateMs: number;
  readonly before: string | undefined;
}

/** The graph of tasks that are known to have no cycle. */
export function missionGraph(tasks: readonly MissionTask[]): MissionGraph {
  const reached = new Map<string, Reached>();
  for (const task of inOrder(tasks)) {
    const waits = waitsFor(task);
    const before = waits.toSorted((a, b) => further(reached.get(b), reached.get(a)))[0];
    const waves = waits.map((id) => reached.get(id)?.wave ?? -1);
    const past = before === undefined ? 0 : (reached.get(before)?.estimateMs ?? 0);
    reached.set(task.id, {
      wave: waves.reduce((a, b) => Math.max(a, b), -1) + 1,
      estimateMs: past + (task.estimateMs ?? 0),
      before,
    });
  }
  return { waves: wavesOf(tasks, reached), criticalPath: longestOf(reached) };
}

const further = (a: Reached | undefined, b: Reached | undefined): number =>
  (a?.estimateMs ?? 0) - (b?.estimateMs ?? 0) || (a?.wave ?? 0) - (b?.wave ?? 0);

/** The tasks, each after those that it waits for. */
function inOrder(tasks: readonly MissionTask[]): readonly MissionTask[] {
  const dependents = new Map<string, MissionTask[]>(tasks.map(({ id }) => [id, []]));
  const left = new Map(tasks.map((task) => [task.id, new Set(waitsFor(task)).size]));
  for (const task of tasks) for (const id of new Set(waitsFor(task))) dependents.get(id)?.push(task);
  const ordered = tasks.filter((task) => left.get(task.id) === 0);
  for (const { id } of ordered)
    for (const task of dependents.get(id) ?? []) {
      const count = (left.get(task.id) ?? 0) - 1;
      left.set(task.id, count);
      if (count === 0) ordered.push(task);
    }
  return ordered;
}

function wavesOf(tasks: readonly MissionTask[], reached: ReadonlyMap<string, Reached>): string[][] {
  const waves: string[][] = [];
  for (const { id } of tasks) {
    const wave = reached.get(id)?.wave ?? 0;
    while (waves.length <= wave) waves.push([]);
    waves[wave]?.push(id);
  }
  return waves;
}

function longestOf(reached: ReadonlyMap<string, Reached>): string[] {
  let [last] = reached.keys();
  for (const [id, one] of reached) if (last !== undefined && further(one, reached.get(last)) > 0) last = id;
  const path: string[] = [];
  for (let id = last; id !== undefined; id = reached.get(id)?.before) path.unshift(id);
  return path;
}
