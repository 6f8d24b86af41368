import type { TaskState } from '../../runtime/protocol/task.ts';
import type { TaskQuery } from '../../runtime/protocol/task-service.ts';
import type { LiveTask } from './live-task.ts';
import { TaskGroup } from './task-group.ts';
import { TouchOrder } from './task-order.ts';

/** What a query may ask for; each combination of them has orders of its own, made when it is first asked for. */
const AGENT = 1;
const CONTEXT = 2;
const STATE = 4;
const EVERYTHING = 0;
const EVERY_TASK = '[null,null,null]';

/** Where a task stands in the orders: that of its status that the owner knows, and when it came to it. */
interface Standing {
  readonly state: TaskState;
  readonly turn: number;
}

/** The tasks of one owner, by when their status was last changed: all of them, and those of each combination that is asked for. */
export class OwnersTasks {
  readonly #standings = new Map<LiveTask, Standing>();
  /** By combination, and by what it asks for. */
  readonly #orders = new Map<number, Map<string, TouchOrder<LiveTask>>>([[EVERYTHING, new Map()]]);
  /** As they count towards what an owner may have. */
  readonly group = new TaskGroup();

  get size(): number {
    return this.#standings.size;
  }

  /** Its status is another one; `turn` is greater than that of any touch before. */
  touch(task: LiveTask, turn: number): void {
    const { state } = task.view.status;
    const former = this.#standings.get(task);
    for (const [asked, orders] of this.#orders) {
      if (former !== undefined && former.state !== state && (asked & STATE) !== 0)
        remove(orders, keyOf(task, former.state, asked), task);
      place(orders, keyOf(task, state, asked), task, turn);
    }
    this.#standings.set(task, { state, turn });
  }

  remove(task: LiveTask): void {
    const standing = this.#standings.get(task);
    if (standing === undefined) return;
    this.#standings.delete(task);
    for (const [asked, orders] of this.#orders) remove(orders, keyOf(task, standing.state, asked), task);
  }

  /** Those that a query asks for; undefined when there are none. */
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
    const oldestFirst = [...this.#standings].sort(([, one], [, other]) => one.turn - other.turn);
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
