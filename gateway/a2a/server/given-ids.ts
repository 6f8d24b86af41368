import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import type { TaskOwner, TaskService } from '../../../runtime/protocol/task-service.ts';
import { givenTaskId, ownTaskId } from '../wire/v01/given-ids.ts';
import { fault } from '../wire/faults.ts';

/**
 * The same tasks, for owners who call them as they like: a task is found by what its owner has called it as well as by its
 * id, and a new one is opened under an id that nobody else can have.
 */
export function withGivenIds(tasks: TaskService): TaskService {
  /** What there is of the task by its id, or else of that which its owner calls so. */
  const either = <Result>(owner: TaskOwner, id: string, use: (taskId: string) => Result): Result => {
    try {
      return use(id);
    } catch (error) {
      const given = givenTaskId(owner, id);
      if (!isUnknown(error) || !hasTask(tasks, owner, given)) throw error;
      return use(given);
    }
  };
  const idOf = (owner: TaskOwner, id: string): string =>
    either(owner, id, (taskId) => {
      tasks.agentOf(owner, taskId);
      return taskId;
    });
  return {
    send: async (owner, { newTaskId, ...said }) => {
      if (said.taskId !== undefined) return tasks.send(owner, { ...said, taskId: idOf(owner, said.taskId) });
      if (newTaskId === undefined) return tasks.send(owner, said);
      const given = givenTaskId(owner, newTaskId);
      const taskId = [newTaskId, given].find((candidate) => hasTask(tasks, owner, candidate));
      if (taskId === undefined) return tasks.send(owner, { ...said, newTaskId: given });
      requireAgent(tasks, owner, taskId, said.agentId);
      return tasks.send(owner, { ...said, taskId });
    },
    answer: (owner, said, signal) => tasks.answer?.(owner, said, signal),
    get: (owner, id, view) => either(owner, id, (taskId) => tasks.get(owner, taskId, view)),
    agentOf: (owner, id) => either(owner, id, (taskId) => tasks.agentOf(owner, taskId)),
    list: (owner, query) => tasks.list(owner, query),
    cancel: async (owner, id) => tasks.cancel(owner, idOf(owner, id)),
    changes: (owner, id, options) => either(owner, id, (taskId) => tasks.changes(owner, taskId, options)),
    whenIdle: async (owner, id, signal) => tasks.whenIdle(owner, idOf(owner, id), signal),
    onChange: (listener) => tasks.onChange(listener),
  };
}

/** What an owner says to one agent goes to no task of another. */
function requireAgent(tasks: TaskService, owner: TaskOwner, taskId: string, agentId: string): void {
  if (tasks.agentOf(owner, taskId) !== agentId)
    throw fault('TASK_NOT_FOUND', `${agentId} has no task "${ownTaskId(taskId)}"`, {
      taskId: ownTaskId(taskId),
    });
}

/** There is such a task, and it is the owner's. */
export function hasTask(tasks: TaskService, owner: TaskOwner, taskId: string): boolean {
  try {
    tasks.agentOf(owner, taskId);
    return true;
  } catch (error) {
    if (isUnknown(error)) return false;
    throw error;
  }
}

const isUnknown = (error: unknown): boolean => isOrreryError(error) && error.code === 'TASK_NOT_FOUND';
