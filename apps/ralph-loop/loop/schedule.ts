import { isDone, isLost, isOver, isWork, type TaskStatus } from './task-status.ts';
import type { WorkItem } from './work-item.ts';

export type Statuses = ReadonlyMap<string, TaskStatus>;

/**
 * The waiting items whose dependencies all came to a good end and that have nobody left to come after, the most urgent
 * first.
 */
export function ready(items: readonly WorkItem[], statuses: Statuses): WorkItem[] {
  return items
    .filter((item) => statuses.get(item.id) === 'waiting')
    .filter((item) => item.dependsOn.every((id) => isDone(statuses.get(id) ?? 'waiting')))
    .filter((item) => item.after.every((id) => isOver(statuses.get(id) ?? 'waiting')))
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
 * The ready items that may be given out now, so that at most `maxParallel` are worked on.
 *
 * What `isTogether` says is begun together, as the parts of a swarm are: when there is room for all of them, or when
 * nothing else is worked on.
 */
export function nextBatch(
  items: readonly WorkItem[],
  statuses: Statuses,
  { maxParallel, isTogether }: { maxParallel: number; isTogether: (item: WorkItem) => boolean },
): WorkItem[] {
  const open = items.filter((item) => statuses.get(item.id) === 'ready').sort(byUrgency);
  const groups = Map.groupBy(open, (item) => (isTogether(item) ? item.taskId : item));
  let inHand = items.filter(({ id }) => isWork(statuses.get(id) ?? 'waiting')).length;
  return [...groups.values()].flatMap((group) => {
    if (inHand > 0 && inHand + group.length > maxParallel) return [];
    inHand += group.length;
    return group;
  });
}

/**
 * By priority; of equals the longest first, so that the others fill the time beside it. Two missing priorities are equal,
 * though the difference of two infinities is not a number.
 */
const byUrgency = (a: WorkItem, b: WorkItem): number =>
  (a.priority === b.priority ? 0 : a.priority - b.priority) || (b.estimateMs ?? 0) - (a.estimateMs ?? 0);
