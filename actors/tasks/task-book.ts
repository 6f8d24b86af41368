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

/** Where the tasks of one owner count. */
interface Belonging {
  readonly owned: OwnersTasks;
  readonly groups: readonly TaskGroup[];
}

/** All tasks, by their owners. */
export class TaskBook {
  readonly #owners = new Map<string, Belonging>();
  /** Of each task that is in the book. */
  readonly #belongings = new Map<LiveTask, Belonging>();
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
    return this.#owners.get(ownerKey(owner))?.owned.group;
  }

  /** Undefined when there are none, and for an owner without a tenant: those have nothing in common. */
  ofTenant({ tenant }: TaskOwner): TaskGroup | undefined {
    return tenant === undefined ? undefined : this.#tenants.get(tenant);
  }

  add(task: LiveTask): void {
    const { owner, id } = task.opening;
    const belonging = this.#belongingOf(owner);
    this.#tasks.set(taskKey(owner, id), task);
    this.#belongings.set(task, belonging);
    for (const group of belonging.groups) group.add(task);
    this.touch(task);
  }

  /** Its status, as it is kept, is another one. */
  touch(task: LiveTask): void {
    const belonging = this.#belongings.get(task);
    if (belonging === undefined) return;
    const turn = ++this.#turn;
    belonging.owned.touch(task, turn);
    if (isTaskOver(task.view.status.state)) for (const group of belonging.groups) group.ended(task, turn);
  }

  /** It has so many bytes more. */
  grew(task: LiveTask, bytes: number): void {
    const belonging = this.#belongings.get(task);
    if (belonging !== undefined) for (const group of belonging.groups) group.grew(bytes);
  }

  remove(task: LiveTask): void {
    const belonging = this.#belongings.get(task);
    if (belonging === undefined) return;
    const { owner, id } = task.opening;
    this.#belongings.delete(task);
    this.#tasks.delete(taskKey(owner, id));
    for (const group of belonging.groups) group.remove(task);
    if (owner.tenant !== undefined && this.ofTenant(owner)?.size === 0) this.#tenants.delete(owner.tenant);
    belonging.owned.remove(task);
    if (belonging.owned.size === 0) this.#owners.delete(ownerKey(owner));
  }

  /** Fails with INVALID_OPTIONS for a token that is none. */
  page(owner: TaskOwner, query: TaskQuery): LiveTaskPage {
    const { sinceMs, pageSize, pageToken = '' } = query;
    const from = this.#turnOf(pageToken);
    const order = this.#owners.get(ownerKey(owner))?.owned.orderOf(query);
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

  /** One that was never given begins no list anew: who sends it would never come to an end. */
  #turnOf(pageToken: string): number | undefined {
    if (pageToken === '') return undefined;
    const turn = /^[0-9a-z]{1,11}$/.test(pageToken) ? Number.parseInt(pageToken, 36) : Number.NaN;
    if (turn > 0 && turn <= this.#turn) return turn;
    throw invalidOptions('pageToken', pageToken, 'the nextPageToken of the page before');
  }

  #belongingOf(owner: TaskOwner): Belonging {
    const key = ownerKey(owner);
    const known = this.#owners.get(key);
    if (known !== undefined) return known;
    const owned = new OwnersTasks();
    const tenant = this.#tenantOf(owner);
    const groups = tenant === undefined ? [owned.group, this.all] : [owned.group, tenant, this.all];
    const made = { owned, groups };
    this.#owners.set(key, made);
    return made;
  }

  #tenantOf({ tenant }: TaskOwner): TaskGroup | undefined {
    if (tenant === undefined) return undefined;
    const group = this.#tenants.get(tenant) ?? new TaskGroup();
    this.#tenants.set(tenant, group);
    return group;
  }
}

const taskKey = (owner: TaskOwner, taskId: string): string => `${ownerKey(owner)}${taskId}`;
