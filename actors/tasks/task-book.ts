import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { TaskOwner, TaskQuery } from '../../runtime/protocol/task-service.ts';
import type { LiveTask } from './live-task.ts';
import { OwnersTasks } from './owners-tasks.ts';

/** One page of an owner's tasks. `total` counts all pages; `nextPageToken` is empty on the last one. */
export interface LiveTaskPage {
  readonly tasks: readonly LiveTask[];
  readonly nextPageToken: string;
  readonly total: number;
}

/** One text for each owner, and none that another one begins with: what follows it is not part of it. */
export const ownerKey = ({ principalId, tenant }: TaskOwner): string =>
  `${tenant === undefined ? '' : tenant.length}:${tenant ?? ''}${principalId.length}:${principalId}`;

/** All tasks, by their owners. */
export class TaskBook {
  readonly #owners = new Map<string, OwnersTasks>();
  /** By owner and id: owners may choose ids, and know nothing of each other. */
  readonly #tasks = new Map<string, LiveTask>();
  readonly #perTenant = new Map<string | undefined, number>();
  /** Grows with every touch of any task. */
  #turn = 0;

  get size(): number {
    return this.#tasks.size;
  }

  /** The task, if it is this owner's. */
  find(owner: TaskOwner, taskId: string): LiveTask | undefined {
    return this.#tasks.get(taskKey(owner, taskId));
  }

  [Symbol.iterator](): Iterator<LiveTask> {
    return this.#tasks.values();
  }

  countOf(owner: TaskOwner): number {
    return this.#owners.get(ownerKey(owner))?.size ?? 0;
  }

  countOfTenant({ tenant }: TaskOwner): number {
    return this.#perTenant.get(tenant) ?? 0;
  }

  /** The owner's task that has been over for longest. */
  oldestOver(owner: TaskOwner): LiveTask | undefined {
    return this.#owners.get(ownerKey(owner))?.oldestOver();
  }

  add(task: LiveTask): void {
    const { owner, id } = task.opening;
    this.#tasks.set(taskKey(owner, id), task);
    this.#perTenant.set(owner.tenant, this.countOfTenant(owner) + 1);
    const key = ownerKey(owner);
    const tasks = this.#owners.get(key) ?? new OwnersTasks();
    this.#owners.set(key, tasks);
    tasks.touch(task, ++this.#turn);
  }

  /** Its status, as it is kept, is another one. */
  touch(task: LiveTask): void {
    const { owner, id } = task.opening;
    if (this.find(owner, id) === task) this.#owners.get(ownerKey(owner))?.touch(task, ++this.#turn);
  }

  remove(task: LiveTask): void {
    const { owner, id } = task.opening;
    const key = ownerKey(owner);
    if (!this.#tasks.delete(taskKey(owner, id))) return;
    const left = this.countOfTenant(owner) - 1;
    if (left > 0) this.#perTenant.set(owner.tenant, left);
    else this.#perTenant.delete(owner.tenant);
    const tasks = this.#owners.get(key);
    tasks?.remove(task);
    if (tasks?.size === 0) this.#owners.delete(key);
  }

  /** Fails with INVALID_OPTIONS for a token that is none. */
  page(owner: TaskOwner, query: TaskQuery): LiveTaskPage {
    const { sinceMs, pageSize, pageToken = '' } = query;
    const from = turnOf(pageToken);
    const order = this.#owners.get(ownerKey(owner))?.orderOf(query);
    if (order === undefined) return { tasks: [], nextPageToken: '', total: 0 };
    const isWanted = ({ view }: LiveTask): boolean => view.status.atMs >= (sinceMs ?? 0);
    const total = sinceMs === undefined ? order.size : order.countWhile(isWanted);
    const found: LiveTask[] = [];
    let last = 0;
    for (const { item, turn } of order.before(from)) {
      if (!isWanted(item)) break;
      if (found.length === pageSize) return { tasks: found, nextPageToken: last.toString(36), total };
      found.push(item);
      last = turn;
    }
    return { tasks: found, nextPageToken: '', total };
  }
}

const taskKey = (owner: TaskOwner, taskId: string): string => `${ownerKey(owner)}${taskId}`;

function turnOf(pageToken: string): number | undefined {
  if (pageToken === '') return undefined;
  if (!/^[0-9a-z]{1,11}$/.test(pageToken))
    throw invalidOptions('pageToken', pageToken, 'the nextPageToken of the page before');
  return Number.parseInt(pageToken, 36);
}
