import type { CodingUsage } from 'orrery/coding';
import type { LoopEvent } from '../loop/loop-event.ts';

/**
 * What the coding agents of a task have used, as far as they say.
 *
 * - `before` those that are over; `now` the one that is at it, or was last.
 * - `asked`  how often an agent was asked to do the task, and `told` how often one has said what it used.
 */
export interface TaskSpending {
  readonly before: CodingUsage;
  readonly now: CodingUsage | undefined;
  readonly asked: number;
  readonly told: number;
}

/** What each task has used, by its id. */
export type Spending = ReadonlyMap<string, TaskSpending>;

export const NO_SPENDING: Spending = new Map();

/** Returns the spending after an event. An agent that is asked anew counts from nothing, so what was used before is added up. */
export function advanceSpending(spending: Spending, event: LoopEvent): Spending {
  if (event.type === 'task.changed' && event.status === 'working') {
    const { before, now, asked, told } = spending.get(event.task) ?? NOTHING;
    return changed(spending, event.task, {
      before: addedUp(before, now ?? {}),
      now: undefined,
      asked: asked + 1,
      told,
    });
  }
  if (event.type === 'task.coding' && event.event.type === 'usage') {
    const task = spending.get(event.task) ?? { ...NOTHING, asked: 1 };
    const now = { ...task.now, ...event.event.usage };
    return changed(spending, event.task, {
      ...task,
      now,
      told: task.told + (task.now === undefined ? 1 : 0),
    });
  }
  return spending;
}

const NOTHING: TaskSpending = { before: {}, now: undefined, asked: 0, told: 0 };

const changed = (spending: Spending, id: string, task: TaskSpending): Spending =>
  new Map(spending).set(id, task);

/** All that the agents of a task have used. */
export const usedBy = ({ before, now = {} }: TaskSpending): CodingUsage => addedUp(before, now);

/** Both together. What neither has told stays unknown. */
export function addedUp(one: CodingUsage, other: CodingUsage): CodingUsage {
  const sum: { -readonly [Field in keyof CodingUsage]: CodingUsage[Field] } = { ...one };
  for (const field of ['inputTokens', 'outputTokens', 'costUsd'] as const) {
    const more = other[field];
    if (more !== undefined) sum[field] = Math.min((one[field] ?? 0) + more, Number.MAX_SAFE_INTEGER);
  }
  return sum;
}
