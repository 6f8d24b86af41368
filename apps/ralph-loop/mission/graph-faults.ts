import { type MissionTask, waitsFor } from './mission.ts';
import { nearest } from './nearest.ts';

/** Faults in the graph of tasks: duplicate ids, unknown dependencies, cycles. */
export function graphFaults(tasks: readonly MissionTask[]): string[] {
  const named = [...duplicateIds(tasks), ...unknownDependencies(tasks)];
  if (named.length > 0) return named;
  const cycle = findCycle(tasks);
  return cycle === undefined ? [] : [cycleFault(cycle)];
}

const SHOWN_TASKS = 8;

/** A sentence about a cycle; a long one is shortened in the middle. */
function cycleFault(cycle: readonly string[]): string {
  if (cycle.length <= SHOWN_TASKS + 2) return `tasks: a cycle of dependencies: ${cycle.join(' -> ')}`;
  const shown = [...cycle.slice(0, SHOWN_TASKS), '…', ...cycle.slice(-2)];
  return `tasks: a cycle of ${cycle.length - 1} dependencies: ${shown.join(' -> ')}`;
}

function duplicateIds(tasks: readonly MissionTask[]): string[] {
  const firstAt = new Map<string, number>();
  return tasks.flatMap(({ id }, index) => {
    const first = firstAt.get(id);
    if (first !== undefined) return [`tasks[${index}].id: "${id}" is already the id of tasks[${first}]`];
    firstAt.set(id, index);
    return [];
  });
}

function unknownDependencies(tasks: readonly MissionTask[]): string[] {
  const ids = tasks.map((task) => task.id);
  const known = new Set(ids);
  return tasks.flatMap((task, index) =>
    (['dependsOn', 'after'] as const).flatMap((field) =>
      (task[field] ?? []).flatMap((dependency, position) => {
        if (known.has(dependency)) return [];
        const meant = nearest(dependency, ids);
        const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
        return [`tasks[${index}].${field}[${position}]: no task has the id "${dependency}"${hint}`];
      }),
    ),
  );
}

/**
 * Finds a cycle, as ids with the first repeated at the end. Tasks that wait for nothing are removed until none is left. Each
 * remaining task waits for a remaining one, so following them leads round.
 */
function findCycle(tasks: readonly MissionTask[]): string[] | undefined {
  const waits = new Map(tasks.map((task) => [task.id, new Set(waitsFor(task))]));
  const dependents = new Map<string, string[]>();
  for (const task of tasks) {
    for (const dependency of waits.get(task.id) ?? []) {
      const known = dependents.get(dependency);
      if (known === undefined) dependents.set(dependency, [task.id]);
      else known.push(task.id);
    }
  }
  const free = tasks.filter((task) => waits.get(task.id)?.size === 0).map((task) => task.id);
  for (const id of free) {
    waits.delete(id);
    for (const dependent of dependents.get(id) ?? []) {
      const left = waits.get(dependent);
      left?.delete(id);
      if (left?.size === 0) free.push(dependent);
    }
  }
  return waits.size === 0 ? undefined : walkRound(waits);
}

function walkRound(waits: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const passed = new Set<string>();
  let [id = ''] = waits.keys();
  while (!passed.has(id)) {
    passed.add(id);
    [id = ''] = waits.get(id) ?? [];
  }
  const path = [...passed];
  return [...path.slice(path.indexOf(id)), id];
}
