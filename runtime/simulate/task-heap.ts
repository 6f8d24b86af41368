import type { Waits } from './running.ts';
import type { VirtualThread } from './virtual-thread.ts';

/**
 * Something that a thread is to do.
 *
 * - `atMs`    virtual milliseconds at which it can be done at the earliest.
 * - `dueMs`   when that was at first: a thread that was busy goes on in this order.
 * - `serial`  counts all tasks; breaks ties.
 * - `isTimer` it waits for time to pass: when nothing else is left, nothing moves.
 */
export interface Task {
  atMs: number;
  readonly dueMs: number;
  readonly serial: number;
  readonly thread: VirtualThread;
  readonly isTimer: boolean;
  readonly run: () => void;
  isCancelled: boolean;
  /** Of the handler that set the timer. */
  waits: Waits | undefined;
}

/** Tasks by the time at which they can be done (a binary heap). */
export class TaskHeap {
  readonly #tasks: Task[] = [];

  get first(): Task | undefined {
    return this.#tasks[0];
  }

  push(task: Task): void {
    const tasks = this.#tasks;
    let at = tasks.push(task) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = tasks[parent] as Task;
      if (!isBefore(task, above)) break;
      tasks[at] = above;
      at = parent;
    }
    tasks[at] = task;
  }

  pop(): Task | undefined {
    const tasks = this.#tasks;
    const first = tasks[0];
    const last = tasks.pop();
    if (first === undefined || last === undefined || tasks.length === 0) return first;
    let at = 0;
    for (let child = 1; child < tasks.length; child = 2 * at + 1) {
      const right = child + 1;
      if (right < tasks.length && isBefore(tasks[right] as Task, tasks[child] as Task)) child = right;
      if (!isBefore(tasks[child] as Task, last)) break;
      tasks[at] = tasks[child] as Task;
      at = child;
    }
    tasks[at] = last;
    return first;
  }
}

const isBefore = (one: Task, other: Task): boolean =>
  one.atMs !== other.atMs
    ? one.atMs < other.atMs
    : one.dueMs !== other.dueMs
      ? one.dueMs < other.dueMs
      : one.serial < other.serial;
