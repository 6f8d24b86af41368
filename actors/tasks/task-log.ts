import { z } from 'zod';
import { Task, type TaskChange } from '../../runtime/protocol/task.ts';

/** Whose a task is: nobody else sees it. `tenant` undefined: of a deployment that has none. */
export const TaskOwner = z.strictObject({
  principalId: z.string().min(1),
  tenant: z.string().min(1).optional(),
});
export type TaskOwner = z.infer<typeof TaskOwner>;

/** What a task begins with. `agentId`: who works at it. */
export const TaskOpening = Task.pick({ id: true, contextId: true, createdAtMs: true, metadata: true }).extend(
  {
    owner: TaskOwner,
    agentId: z.string().min(1),
  },
);
export type TaskOpening = z.infer<typeof TaskOpening>;

/** A task with all its changes, oldest first. */
export interface LoggedTask {
  readonly opening: TaskOpening;
  readonly changes: readonly TaskChange[];
}

/**
 * Where an engine keeps its tasks, so that another one, after a restart, goes on with them. Nobody learns of a change before
 * it is kept.
 *
 * - `open`   resolves when the task and its first changes survive.
 * - `append` resolves when these changes survive, after all before them.
 * - `forget` forgets a task and its changes.
 * - `load`   all that was kept, in the order in which it was opened.
 */
export interface TaskLog {
  open(opening: TaskOpening, changes: readonly TaskChange[]): Promise<void> | void;
  append(taskId: string, changes: readonly TaskChange[]): Promise<void> | void;
  forget(taskId: string): Promise<void> | void;
  load(): AsyncIterable<LoggedTask> | Iterable<LoggedTask>;
}

/** A log that lasts as long as the process: what the engine itself holds is enough. */
export class InMemoryTaskLog implements TaskLog {
  open(): void {}
  append(): void {}
  forget(): void {}
  load(): Iterable<LoggedTask> {
    return [];
  }
}
