import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { isTaskOver } from '../../runtime/protocol/task.ts';
import type { TaskOwner, TaskQuery } from '../../runtime/protocol/task-service.ts';
import type { LiveTask } from './live-task.ts';
import { OwnersTasks } from './owners-tasks.ts';
import { TaskGroup } from './task-group.ts';

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
  readonly #tenants = new Map<string, TaskGroup>();
  readonly all = new TaskGroup();
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

  /** Undefined when there are none. */
  ofOwner(owner: TaskOwner): TaskGroup | undefined {
    return this.#owners.get(ownerKey(owner))?.group;
  }

  /** Undefined when there are none, and for an owner without a tenant: those have nothing in common. */
  ofTenant({ tenant }: TaskOwner): TaskGroup | undefined {
    return tenant === undefined ? undefined : this.#tenants.get(tenant);
  }

  add(task: LiveTask): void {
    const { owner, id } = task.opening;
    const { tenant } = owner;
    const key = ownerKey(owner);
    this.#tasks.set(taskKey(owner, id), task);
    if (!this.#owners.has(key)) this.#owners.set(key, new OwnersTasks());
    if (tenant !== undefined && !this.#tenants.has(tenant)) this.#tenants.set(tenant, new TaskGroup());
    for (const group of this.#groupsOf(owner)) group.add(task);
    this.touch(task);
  }

  /** Its status, as it is kept, is another one. */
  touch(task: LiveTask): void {
    if (!this.#has(task)) return;
    const { owner } = task.opening;
    const turn = ++this.#turn;
    this.#owners.get(ownerKey(owner))?.touch(task, turn);
    if (isTaskOver(task.view.status.state))
      for (const group of this.#groupsOf(owner)) group.ended(task, turn);
  }

  /** It has so many bytes more. */
  grew(task: LiveTask, bytes: number): void {
    if (this.#has(task)) for (const group of this.#groupsOf(task.opening.owner)) group.grew(bytes);
  }

  remove(task: LiveTask): void {
    if (!this.#has(task)) return;
    const { owner, id } = task.opening;
    const key = ownerKey(owner);
    this.#tasks.delete(taskKey(owner, id));
    for (const group of this.#groupsOf(owner)) group.remove(task);
    if (owner.tenant !== undefined && this.ofTenant(owner)?.size === 0) this.#tenants.delete(owner.tenant);
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

  #has(task: LiveTask): boolean {
    const { owner, id } = task.opening;
    return this.find(owner, id) === task;
  }

  #groupsOf(owner: TaskOwner): TaskGroup[] {
    return [this.ofOwner(owner), this.ofTenant(owner), this.all].filter((group) => group !== undefined);
  }
}

const taskKey = (owner: TaskOwner, taskId: string): string => `${ownerKey(owner)}${taskId}`;

function turnOf(pageToken: string): number | undefined {
  if (pageToken === '') return undefined;
  if (!/^[0-9a-z]{1,11}$/.test(pageToken))
    throw invalidOptions('pageToken', pageToken, 'the nextPageToken of the page before');
  return Number.parseInt(pageToken, 36);
}
