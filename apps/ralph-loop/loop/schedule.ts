import { isBusy, isLost, type TaskStatus } from './task-status.ts';
import type { WorkItem } from './work-item.ts';

export type Statuses = ReadonlyMap<string, TaskStatus>;

/**
 * The waiting items whose dependencies are all accepted, the most urgent first; equally urgent ones as in the
 * file.
 */
export function ready(items: readonly WorkItem[], statuses: Statuses): WorkItem[] {
  return items
    .filter((item) => statuses.get(item.id) === 'waiting')
    .filter((item) => item.dependsOn.every((id) => statuses.get(id) === 'accepted'))
    .sort(byUrgency);
}

/** The waiting items that can never start, each with the dependency that was lost. */
export function cutOff(items: readonly WorkItem[], statuses: Statuses): { item: WorkItem; lost: string }[] {
  return items
    .filter((item) => statuses.get(item.id) === 'waiting')
    .flatMap((item) => {
      const lost = item.dependsOn.find((id) => isLost(statuses.get(id) ?? 'waiting'));
      return lost === undefined ? [] : [{ item, lost }];
    });
}

/**
 * The ready items that may be given out now, the most urgent first, so that items of at most `maxParallel` tasks are in
 * hand.
 */
export function nextBatch(items: readonly WorkItem[], statuses: Statuses, maxParallel: number): WorkItem[] {
  const tasks = new Set(
    items.filter(({ id }) => isBusy(statuses.get(id) ?? 'waiting')).map(({ taskId }) => taskId),
  );
  return items
    .filter((item) => statuses.get(item.id) === 'ready')
    .sort(byUrgency)
    .filter(({ taskId }) => {
      if (!tasks.has(taskId) && tasks.size >= maxParallel) return false;
      tasks.add(taskId);
      return true;
    });
}

/** Two missing priorities are equal, though the difference of two infinities is not a number. */
const byUrgency = (a: WorkItem, b: WorkItem): number =>
  a.priority === b.priority ? 0 : a.priority - b.priority;
