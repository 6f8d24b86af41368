import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { isTaskOver, type TaskState } from '../../runtime/protocol/task.ts';
import type { LiveTask } from './live-task.ts';
import type { TaskOwner } from './task-log.ts';
import { TouchOrder } from './task-order.ts';

/** Which of an owner's tasks are wanted, by the time of their status, the newest first. */
export interface TaskQuery {
  readonly contextId?: string | undefined;
  readonly state?: TaskState | undefined;
  /** Of this time or later, Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly pageSize: number;
  /** `nextPageToken` of the page before. */
  readonly pageToken?: string | undefined;
}

/** `total` counts all pages, as far as the query names a context or state only; `nextPageToken` is empty on the last page. */
export interface TaskPage {
  readonly tasks: readonly LiveTask[];
  readonly nextPageToken: string;
  readonly total: number;
}

/** The tasks of one owner: all, and those of each context and state. */
class OwnersTasks {
  readonly all = new TouchOrder<LiveTask>();
  readonly byContext = new Map<string, TouchOrder<LiveTask>>();
  readonly byState = new Map<TaskState, TouchOrder<LiveTask>>();
  /** Those that are over, for whoever needs room. */
  readonly over = new TouchOrder<LiveTask>();
  readonly states = new Map<LiveTask, TaskState>();
}

const keyOf = ({ principalId, tenant }: TaskOwner): string => JSON.stringify([tenant ?? null, principalId]);

/** All tasks, by their owners. */
export class TaskBook {
  readonly #owners = new Map<string, OwnersTasks>();
  readonly #tasks = new Map<string, LiveTask>();
  /** Grows with every touch of any task. */
  #turn = 0;

  get size(): number {
    return this.#tasks.size;
  }

  /** The task, if it is this owner's. */
  find(owner: TaskOwner, taskId: string): LiveTask | undefined {
    const task = this.#tasks.get(taskId);
    return task !== undefined && keyOf(task.opening.owner) === keyOf(owner) ? task : undefined;
  }

  has(taskId: string): boolean {
    return this.#tasks.has(taskId);
  }

  [Symbol.iterator](): Iterator<LiveTask> {
    return this.#tasks.values();
  }

  countOf(owner: TaskOwner): number {
    return this.#owners.get(keyOf(owner))?.all.size ?? 0;
  }

  /** The owner's task that has been over for longest. */
  oldestOver(owner: TaskOwner): LiveTask | undefined {
    return this.#owners.get(keyOf(owner))?.over.oldest();
  }

  add(task: LiveTask): void {
    this.#tasks.set(task.id, task);
    this.touch(task);
  }

  /** Its status, as it is kept, is another one. */
  touch(task: LiveTask): void {
    const { owner, contextId } = task.opening;
    const tasks = orNew(this.#owners, keyOf(owner), () => new OwnersTasks());
    const { state } = task.view.status;
    const turn = ++this.#turn;
    const former = tasks.states.get(task);
    if (former !== undefined && former !== state) tasks.byState.get(former)?.remove(task);
    tasks.states.set(task, state);
    tasks.all.touch(task, turn);
    orNew(tasks.byContext, contextId, newOrder).touch(task, turn);
    orNew(tasks.byState, state, newOrder).touch(task, turn);
    if (isTaskOver(state)) tasks.over.touch(task, turn);
  }

  remove(task: LiveTask): void {
    const { owner, contextId } = task.opening;
    const key = keyOf(owner);
    const tasks = this.#owners.get(key);
    this.#tasks.delete(task.id);
    if (tasks === undefined) return;
    const state = tasks.states.get(task);
    tasks.states.delete(task);
    tasks.all.remove(task);
    tasks.over.remove(task);
    if (state !== undefined) tasks.byState.get(state)?.remove(task);
    const context = tasks.byContext.get(contextId);
    context?.remove(task);
    if (context?.size === 0) tasks.byContext.delete(contextId);
    if (tasks.all.size === 0) this.#owners.delete(key);
  }

  /** Fails with INVALID_OPTIONS for a token that is none. */
  page(owner: TaskOwner, { contextId, state, sinceMs = 0, pageSize, pageToken = '' }: TaskQuery): TaskPage {
    const from = turnOf(pageToken);
    const tasks = this.#owners.get(keyOf(owner));
    const order = orderOf(tasks, contextId, state);
    if (order === undefined) return { tasks: [], nextPageToken: '', total: 0 };
    const found: LiveTask[] = [];
    let last = 0;
    for (const { item, turn } of order.before(from)) {
      if (item.view.status.atMs < sinceMs) break;
      if (contextId !== undefined && state !== undefined && item.view.status.state !== state) continue;
      if (found.length === pageSize)
        return { tasks: found, nextPageToken: last.toString(36), total: order.size };
      found.push(item);
      last = turn;
    }
    return { tasks: found, nextPageToken: '', total: order.size };
  }
}

const newOrder = (): TouchOrder<LiveTask> => new TouchOrder();

function orderOf(
  tasks: OwnersTasks | undefined,
  contextId: string | undefined,
  state: TaskState | undefined,
): TouchOrder<LiveTask> | undefined {
  if (contextId !== undefined) return tasks?.byContext.get(contextId);
  return state === undefined ? tasks?.all : tasks?.byState.get(state);
}

function turnOf(pageToken: string): number | undefined {
  if (pageToken === '') return undefined;
  if (!/^[0-9a-z]{1,11}$/.test(pageToken))
    throw invalidOptions('pageToken', pageToken, 'the nextPageToken of the page before');
  return Number.parseInt(pageToken, 36);
}

function orNew<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
