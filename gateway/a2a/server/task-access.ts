import { agentNotFound, isOrreryError } from '../../../runtime/protocol/errors.ts';
import { type Task, isTaskOver } from '../../../runtime/protocol/task.ts';
import type { TaskOwner, TaskService, ViewOptions } from '../../../runtime/protocol/task-service.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import { taskOwnerOf } from '../../team/caller-rights.ts';
import { fault } from '../wire/faults.ts';
import type { Caller } from './caller.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { givenTaskId, ownTaskId } from '../wire/v01/given-ids.ts';

export interface TaskAccessDeps {
  readonly tasks: TaskService;
  readonly team: ServedTeam;
}

/** A task without what may be long in it. */
export const BARE: ViewOptions = { historyLength: 0, artifacts: false };

export const ownerOf = ({ principal }: Caller): TaskOwner => taskOwnerOf(principal);

/** The task, if it is the owner's and the agent's that the caller names. Throws TASK_NOT_FOUND, AGENT_NOT_FOUND. */
export function taskFor(
  { tasks, team }: TaskAccessDeps,
  owner: TaskOwner,
  taskId: string,
  { agentId }: Caller,
  view: ViewOptions = BARE,
): Task {
  requireAgent(team, agentId);
  const task = tasks.get(owner, taskId, view);
  if (agentId !== undefined && tasks.agentOf(owner, taskId) !== agentId)
    throw fault('TASK_NOT_FOUND', `There is no task "${taskId}"`, { taskId });
  return task;
}

export function requireAgent(team: ServedTeam, agentId: string | undefined): void {
  if (agentId !== undefined && team.card(agentId) === undefined) throw agentNotFound(agentId);
}

/** Whose task is waited for, and how long at most: without limit if `waitMs` or `clock` is absent. */
interface Waiting {
  readonly tasks: TaskService;
  readonly owner: TaskOwner;
  readonly clock: Clock | undefined;
  readonly waitMs: number | undefined;
  readonly signal: AbortSignal;
}

/** The task when it is over, or waits for its owner; or as it stands when nobody waits any longer. */
export const whenIdle = (waiting: Waiting, { id }: Task): Promise<Task> =>
  patiently(waiting, (signal) => waiting.tasks.whenIdle(waiting.owner, id, signal));

/** Resolves when the task has had a change after number `after`, is over, or nobody waits any longer. */
export async function whenBeyond(waiting: Waiting, task: Task, after: number): Promise<void> {
  if (task.generation > after || isTaskOver(task.status.state)) return;
  await patiently(waiting, async (signal) => {
    const changes = waiting.tasks.changes(waiting.owner, task.id, { after, signal });
    await changes.next();
    await changes.return();
  });
}

/** Waits with a signal that aborts when the caller has gone, or after `waitMs`. */
async function patiently<Result>(
  { clock, waitMs, signal }: Waiting,
  wait: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (waitMs === undefined || clock === undefined) return wait(signal);
  const patience = new AbortController();
  const giveUp = (): void => patience.abort();
  if (signal.aborted) giveUp();
  const cancelTimer = clock.setTimer(waitMs, giveUp);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await wait(patience.signal);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * The same tasks, for owners who call them as they like: a task is found by what its owner has called it as well as by its
 * id, and a new one is opened under an id that nobody else can have.
 */
export function withGivenIds(tasks: TaskService): TaskService {
  /** Looks a task up by its id, else by the id that its owner has chosen. */
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
      requireSameAgent(tasks, owner, taskId, said.agentId);
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

/** Refuses a message to one agent for a task of another. */
function requireSameAgent(tasks: TaskService, owner: TaskOwner, taskId: string, agentId: string): void {
  if (tasks.agentOf(owner, taskId) !== agentId)
    throw fault('TASK_NOT_FOUND', `${agentId} has no task "${ownTaskId(taskId)}"`, {
      taskId: ownTaskId(taskId),
    });
}

/** Whether the owner has such a task. */
function hasTask(tasks: TaskService, owner: TaskOwner, taskId: string): boolean {
  try {
    tasks.agentOf(owner, taskId);
    return true;
  } catch (error) {
    if (isUnknown(error)) return false;
    throw error;
  }
}

const isUnknown = (error: unknown): boolean => isOrreryError(error) && error.code === 'TASK_NOT_FOUND';
