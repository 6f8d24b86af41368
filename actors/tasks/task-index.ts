import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { isTaskOver, type TaskState } from '../../runtime/protocol/task.ts';
import type { TaskOwner, TaskQuery } from '../../runtime/protocol/task-service.ts';
import type { LiveTask } from './live-task.ts';
import { quotaExceeded } from './task-errors.ts';
import type { ParsedTaskLimits } from './task-engine.ts';

/** One page of an owner's tasks. `total` counts all pages; `nextPageToken` is empty on the last one. */
export interface LiveTaskPage {
  readonly tasks: readonly LiveTask[];
  readonly nextPageToken: string;
  readonly total: number;
}

/** A key for an owner. No key begins with another's. */
export const ownerKey = ({ principalId, tenant }: TaskOwner): string =>
  `${tenant === undefined ? '' : tenant.length}:${tenant ?? ''}${principalId.length}:${principalId}`;

/** The groups in which a task counts. */
interface Belonging {
  readonly owned: OwnersTasks;
  readonly groups: readonly TaskGroup[];
}

/** All tasks, by their owners. */
export class TaskIndex {
  readonly #owners = new Map<string, Belonging>();
  /** The groups of each task in the index. */
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

  /** Notes that a task's written status has changed. */
  touch(task: LiveTask): void {
    const belonging = this.#belongings.get(task);
    if (belonging === undefined) return;
    const turn = ++this.#turn;
    belonging.owned.touch(task, turn);
    if (isTaskOver(task.view.status.state)) for (const group of belonging.groups) group.ended(task, turn);
  }

  /** Notes that a task has grown by so many bytes. */
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

  /** The position of a page token. A token that was never given is refused: the list would never end. */
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

/** Tasks that count together towards a limit: how many, about how many bytes, and those of them that are over. */
export class TaskGroup {
  /** Tasks that are over, the one that ended first in front. */
  readonly #over = new TouchOrder<LiveTask>();
  #size = 0;
  #bytes = 0;
  #overBytes = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many tasks are not over: they cannot make room. */
  get openSize(): number {
    return this.#size - this.#over.size;
  }

  get openBytes(): number {
    return this.#bytes - this.#overBytes;
  }

  get oldestOver(): LiveTask | undefined {
    return this.#over.oldest();
  }

  add({ bytes }: LiveTask): void {
    this.#size += 1;
    this.#bytes += bytes;
  }

  /** Notes that one of the tasks has grown. */
  grew(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Notes that one of the tasks has ended; `turn` is greater than that of any before. */
  ended(task: LiveTask, turn: number): void {
    if (!this.#over.has(task)) this.#overBytes += task.bytes;
    this.#over.touch(task, turn);
  }

  remove(task: LiveTask): void {
    this.#size -= 1;
    this.#bytes -= task.bytes;
    if (this.#over.has(task)) this.#overBytes -= task.bytes;
    this.#over.remove(task);
  }
}

/** An item's place in the order. An older place of the same item is stale. */
interface Place<Item> {
  readonly turn: number;
  readonly item: Item;
}

/**
 * Items by when they were last touched, the newest first. Touching one and reading a page cost the same however many there
 * are; a page goes on where the last one ended, whatever was touched meanwhile.
 */
export class TouchOrder<Item> {
  /** By turn; a place whose item was touched since is stale. */
  #places: Place<Item>[] = [];
  readonly #turns = new Map<Item, number>();
  /** All places before it are stale. */
  #first = 0;

  get size(): number {
    return this.#turns.size;
  }

  has(item: Item): boolean {
    return this.#turns.has(item);
  }

  /** `turn` is greater than that of any touch before. */
  touch(item: Item, turn: number): void {
    this.#turns.set(item, turn);
    this.#places.push({ turn, item });
    this.#sweepIfDue();
  }

  remove(item: Item): void {
    this.#turns.delete(item);
    this.#sweepIfDue();
  }

  /** The newest that were last touched before `turn`, which is left out of the first page. */
  *before(
    turn: number = Number.POSITIVE_INFINITY,
  ): Generator<{ readonly item: Item; readonly turn: number }> {
    for (let at = this.#indexOf(turn) - 1; at >= 0; at--) {
      const place = this.#places[at] as Place<Item>;
      if (this.#turns.get(place.item) === place.turn) yield place;
    }
  }

  /** How many of the newest there are until the first for which this does not hold. */
  countWhile(holds: (item: Item) => boolean): number {
    let count = 0;
    for (const { item } of this.before()) {
      if (!holds(item)) break;
      count += 1;
    }
    return count;
  }

  /** The item that was touched the longest ago. */
  oldest(): Item | undefined {
    for (; this.#first < this.#places.length; this.#first++) {
      const { item, turn } = this.#places[this.#first] as Place<Item>;
      if (this.#turns.get(item) === turn) return item;
    }
    return undefined;
  }

  /** How many places have a turn below this one. */
  #indexOf(turn: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as Place<Item>).turn < turn) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Removes stale places when they are more than the others, so that a search takes few steps on average. */
  #sweepIfDue(): void {
    if (this.#places.length <= 2 * this.#turns.size + 16) return;
    this.#first = 0;
    this.#places = this.#places.filter(({ item, turn }) => this.#turns.get(item) === turn);
  }
}

/** Filters of a query, one bit each. Each combination has orders of its own, made when it is first asked for. */
const AGENT = 1;
const CONTEXT = 2;
const STATE = 4;
const EVERYTHING = 0;
const EVERY_TASK = '[null,null,null]';

/** A task's place in the orders: the status that its owner knows, and since when. */
interface IndexEntry {
  readonly state: TaskState;
  readonly turn: number;
}

/** The tasks of one owner, by when their status was last changed: all of them, and those of each combination that is asked for. */
class OwnersTasks {
  readonly #entries = new Map<LiveTask, IndexEntry>();
  /** By combination, and by what it asks for. */
  readonly #orders = new Map<number, Map<string, TouchOrder<LiveTask>>>([[EVERYTHING, new Map()]]);
  /** The group that counts towards the owner's limits. */
  readonly group = new TaskGroup();

  get size(): number {
    return this.#entries.size;
  }

  /** Notes a new status; `turn` is greater than that of any touch before. */
  touch(task: LiveTask, turn: number): void {
    const { state } = task.view.status;
    const former = this.#entries.get(task);
    for (const [asked, orders] of this.#orders) {
      if (former !== undefined && former.state !== state && (asked & STATE) !== 0)
        remove(orders, keyOf(task, former.state, asked), task);
      place(orders, keyOf(task, state, asked), task, turn);
    }
    this.#entries.set(task, { state, turn });
  }

  remove(task: LiveTask): void {
    const entry = this.#entries.get(task);
    if (entry === undefined) return;
    this.#entries.delete(task);
    for (const [asked, orders] of this.#orders) remove(orders, keyOf(task, entry.state, asked), task);
  }

  /** The tasks that fit a query; undefined when there are none. */
  orderOf({ agentId, contextId, state }: TaskQuery): TouchOrder<LiveTask> | undefined {
    const asked =
      (agentId === undefined ? 0 : AGENT) |
      (contextId === undefined ? 0 : CONTEXT) |
      (state === undefined ? 0 : STATE);
    const key = JSON.stringify([agentId ?? null, contextId ?? null, state ?? null]);
    return this.#ordersFor(asked).get(key);
  }

  #ordersFor(asked: number): Map<string, TouchOrder<LiveTask>> {
    const known = this.#orders.get(asked);
    if (known !== undefined) return known;
    const made = new Map<string, TouchOrder<LiveTask>>();
    const oldestFirst = [...this.#entries].sort(([, one], [, other]) => one.turn - other.turn);
    for (const [task, { state, turn }] of oldestFirst) place(made, keyOf(task, state, asked), task, turn);
    this.#orders.set(asked, made);
    return made;
  }
}

function keyOf({ opening }: LiveTask, state: TaskState, asked: number): string {
  if (asked === EVERYTHING) return EVERY_TASK;
  const { agentId, contextId } = opening;
  return JSON.stringify([
    (asked & AGENT) === 0 ? null : agentId,
    (asked & CONTEXT) === 0 ? null : contextId,
    (asked & STATE) === 0 ? null : state,
  ]);
}

function place(orders: Map<string, TouchOrder<LiveTask>>, key: string, task: LiveTask, turn: number): void {
  let order = orders.get(key);
  if (order === undefined) {
    order = new TouchOrder();
    orders.set(key, order);
  }
  order.touch(task, turn);
}

function remove(orders: Map<string, TouchOrder<LiveTask>>, key: string, task: LiveTask): void {
  const order = orders.get(key);
  order?.remove(task);
  if (order?.size === 0) orders.delete(key);
}

/** `forget` takes a task out of the index. */
interface TaskQuotaDeps {
  readonly limits: ParsedTaskLimits;
  readonly index: TaskIndex;
  readonly forget: (task: LiveTask) => void;
}

/** The limits of one group. */
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
export class TaskQuota {
  readonly #deps: TaskQuotaDeps;

  constructor(deps: TaskQuotaDeps) {
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
    const { index, limits } = this.#deps;
    const { tasks, tenantTasks, totalTasks, ownerBytes, totalBytes } = limits;
    return [
      { group: index.ofOwner(owner), whose: 'one owner', tasks, bytes: ownerBytes },
      { group: index.ofTenant(owner), whose: 'one tenant', tasks: tenantTasks, bytes: totalBytes },
      { group: index.all, whose: 'all owners', tasks: totalTasks, bytes: totalBytes },
    ];
  }
}
