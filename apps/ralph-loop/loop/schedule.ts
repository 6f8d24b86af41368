import { isBusy, isDone, isLost, isOver, isUnderWay, type TaskStatus } from './task-status.ts';
import type { WorkItem } from './work-item.ts';

export type Statuses = ReadonlyMap<string, TaskStatus>;

/** The waiting items whose dependencies are done and whose predecessors are over, the most urgent first. */
export function ready(items: readonly WorkItem[], statuses: Statuses): WorkItem[] {
  return items
    .filter((item) => statuses.get(item.id) === 'waiting')
    .filter((item) => item.dependsOn.every((id) => isDone(statuses.get(id) ?? 'waiting')))
    .filter((item) => item.after.every((id) => isOver(statuses.get(id) ?? 'waiting')))
    .sort(byUrgency);
}

/** The waiting items that can never start, each with its lost dependency. */
export function cutOff(items: readonly WorkItem[], statuses: Statuses): { item: WorkItem; lost: string }[] {
  return items
    .filter((item) => statuses.get(item.id) === 'waiting')
    .flatMap((item) => {
      const lost = item.dependsOn.find((id) => isLost(statuses.get(id) ?? 'waiting'));
      return lost === undefined ? [] : [{ item, lost }];
    });
}

/**
 * The ready items to assign now, so that at most `maxParallel` are under way.
 *
 * Items for which `isTogether` holds start together, like the parts of a swarm: if there is room for all, or if nothing else
 * runs. Items that may change the same files, as `overlaps` has it, are not in hand at the same time.
 */
export function nextBatch(
  items: readonly WorkItem[],
  statuses: Statuses,
  {
    maxParallel,
    isTogether,
    overlaps = new Map(),
  }: {
    maxParallel: number;
    isTogether: (item: WorkItem) => boolean;
    overlaps?: ReadonlyMap<string, readonly string[]>;
  },
): WorkItem[] {
  const open = items.filter((item) => statuses.get(item.id) === 'ready').sort(byUrgency);
  const groups = Map.groupBy(open, (item) => (isTogether(item) ? item.taskId : item));
  const inWork = new Set(items.filter(({ id }) => isBusy(statuses.get(id) ?? 'waiting')).map(({ id }) => id));
  let inHand = items.filter(({ id }) => isUnderWay(statuses.get(id) ?? 'waiting')).length;
  return [...groups.values()].flatMap((group) => {
    if (inHand > 0 && inHand + group.length > maxParallel) return [];
    if (group.some(({ id }) => overlaps.get(id)?.some((other) => inWork.has(other)))) return [];
    inHand += group.length;
    for (const { id } of group) inWork.add(id);
    return group;
  });
}

/**
 * Orders by priority, then by estimate, the longest first, so that shorter ones fill the time beside it. Two missing
 * priorities are equal, although the difference of infinities is NaN.
 */
const byUrgency = (a: WorkItem, b: WorkItem): number =>
  (a.priority === b.priority ? 0 : a.priority - b.priority) || (b.estimateMs ?? 0) - (a.estimateMs ?? 0);
