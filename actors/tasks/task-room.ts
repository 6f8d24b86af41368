import type { TaskOwner } from '../../runtime/protocol/task-service.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskBook } from './task-book.ts';
import { quotaExceeded } from './task-errors.ts';
import type { TaskGroup } from './task-group.ts';
import type { ParsedTaskLimits } from './task-limits.ts';

/** `forget` takes a task out of the book. */
export interface TaskRoomDeps {
  readonly limits: ParsedTaskLimits;
  readonly book: TaskBook;
  readonly forget: (task: LiveTask) => void;
}

/** What those of one kind may have together. */
interface Bound {
  readonly group: TaskGroup | undefined;
  readonly whose: string;
  readonly tasks: number;
  readonly bytes: number;
}

/**
 * Keeps tasks within their limits: each of them, those of one owner, those of one tenant, and all. Tasks that are over make
 * room, those first that have been over for longest; where that is not enough it is QUOTA_EXCEEDED, and none is forgotten.
 */
export class TaskRoom {
  readonly #deps: TaskRoomDeps;

  constructor(deps: TaskRoomDeps) {
    this.#deps = deps;
  }

  /** Throws QUOTA_EXCEEDED when one task would be too large with so many bytes more. */
  requireOne(task: LiveTask, bytes: number): void {
    const most = this.#deps.limits.bytes;
    if (task.bytes + bytes > most) throw quotaExceeded('bytes of one task', most);
  }

  /** Makes room for a new task, whose first message has so many bytes. */
  forNew(task: LiveTask, bytes: number): void {
    this.#make(task.opening.owner, 1, task.bytes + bytes);
  }

  /** Makes room for so many bytes more of a task. */
  forMore(task: LiveTask, bytes: number): void {
    this.requireOne(task, bytes);
    this.#make(task.opening.owner, 0, bytes);
  }

  #make(owner: TaskOwner, tasks: number, bytes: number): void {
    const bounds = this.#boundsOf(owner);
    for (const { group, whose, tasks: mostTasks, bytes: mostBytes } of bounds) {
      if (tasks > 0 && (group?.openSize ?? 0) + tasks > mostTasks)
        throw quotaExceeded(`tasks of ${whose} that are not over`, mostTasks);
      if ((group?.openBytes ?? 0) + bytes > mostBytes)
        throw quotaExceeded(`bytes of the tasks of ${whose}`, mostBytes);
    }
    for (const { group, tasks: mostTasks, bytes: mostBytes } of bounds) {
      if (group === undefined) continue;
      const isFull = (): boolean =>
        (tasks > 0 && group.size + tasks > mostTasks) || group.bytes + bytes > mostBytes;
      for (let oldest = group.oldestOver; oldest !== undefined && isFull(); oldest = group.oldestOver)
        this.#deps.forget(oldest);
    }
  }

  #boundsOf(owner: TaskOwner): readonly Bound[] {
    const { book, limits } = this.#deps;
    const { tasks, tenantTasks, totalTasks, ownerBytes, totalBytes } = limits;
    return [
      { group: book.ofOwner(owner), whose: 'one owner', tasks, bytes: ownerBytes },
      { group: book.ofTenant(owner), whose: 'one tenant', tasks: tenantTasks, bytes: totalBytes },
      { group: book.all, whose: 'all owners', tasks: totalTasks, bytes: totalBytes },
    ];
  }
}
