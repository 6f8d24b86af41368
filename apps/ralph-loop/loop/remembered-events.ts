import { keptOf } from '../code/code-work.ts';
import { trailerValue } from '../worktrees/commit-message.ts';
import type { Reclaimed } from '../worktrees/reclaim.ts';
import type { JournalledTask, TaskEvent } from './task-context.ts';
import type { WorkItem } from './work-item.ts';

/**
 * What tasks are told of a run before, by id. Of a change the branch says whether it is accepted, not the journal: the process may
 * have ended between the two, and a commit may have been taken off the branch since.
 */
export function rememberedEvents(
  items: readonly WorkItem[],
  {
    accepted = new Map(),
    left,
  }: {
    readonly accepted?: ReadonlyMap<string, JournalledTask> | undefined;
    readonly left?: Pick<Reclaimed, 'accepted' | 'kept'> | undefined;
  },
): ReadonlyMap<string, TaskEvent> {
  const events = new Map<string, TaskEvent>();
  for (const item of items) {
    const event = rememberedEvent(item, accepted.get(item.id), left);
    if (event !== undefined) events.set(item.id, event);
  }
  return events;
}

function rememberedEvent(
  item: WorkItem,
  context: JournalledTask | undefined,
  left: Pick<Reclaimed, 'accepted' | 'kept'> | undefined,
): TaskEvent | undefined {
  const merged = left?.accepted.findLast(({ task }) => task === trailerValue(item.id));
  const isOnBranch = context?.commit === undefined || left === undefined || merged !== undefined;
  if (context !== undefined && isOnBranch) return { type: 'work.remembered', context };
  if (merged !== undefined) return { type: 'change.remembered', commit: merged.commit };
  const kept = left && keptOf(left.kept, item);
  return kept && { type: 'change.kept', attempt: kept.attempt };
}
