import type { CodingUsage } from 'orrery/coding';
import type { LoopEvent } from '../loop/loop-event.ts';

/**
 * What the coding agents of a task have used, as far as they say.
 *
 * - `agent`  the one that is at it, or was last; `now` what it has used, and `reviews` those who have reviewed its change.
 * - `before` all before that.
 * - `asked`  how often an agent was asked to do the task, and `told` how often one has said what it used.
 */
export interface TaskSpending {
  readonly before: CodingUsage;
  readonly now: CodingUsage | undefined;
  readonly agent: string | undefined;
  readonly reviews: ReadonlyMap<string, CodingUsage>;
  readonly asked: number;
  readonly told: number;
}

/** What each task has used, by its id. */
export type Spending = ReadonlyMap<string, TaskSpending>;

export const NO_SPENDING: Spending = new Map();

/** Returns the spending after an event. An agent that is asked anew counts from nothing, so what was used before is added up. */
export function advanceSpending(spending: Spending, event: LoopEvent): Spending {
  if (event.type === 'task.changed' && event.status === 'working') {
    const task = spending.get(event.task) ?? NOTHING;
    const { asked, told } = task;
    return changed(spending, event.task, {
      ...NOTHING,
      before: usedBy(task),
      agent: event.agent,
      asked: asked + 1,
      told,
    });
  }
  if (event.type === 'task.coding' && event.event.type === 'usage') {
    const task = spending.get(event.task) ?? { ...NOTHING, asked: 1 };
    const { agent, event: report } = event;
    const worker = task.agent ?? agent;
    if (agent !== worker) {
      const reviews = new Map(task.reviews).set(agent, { ...task.reviews.get(agent), ...report.usage });
      return changed(spending, event.task, { ...task, reviews });
    }
    const now = { ...task.now, ...report.usage };
    return changed(spending, event.task, {
      ...task,
      agent: worker,
      now,
      told: task.told + (task.now === undefined ? 1 : 0),
    });
  }
  return spending;
}

const NOTHING: TaskSpending = {
  before: {},
  now: undefined,
  agent: undefined,
  reviews: new Map(),
  asked: 0,
  told: 0,
};

const changed = (spending: Spending, id: string, task: TaskSpending): Spending =>
  new Map(spending).set(id, task);

/** All that the agents of a task have used. */
export const usedBy = ({ before, now = {}, reviews }: TaskSpending): CodingUsage =>
  [now, ...reviews.values()].reduce(addedUp, before);

/** Both together. What neither has told stays unknown. */
export function addedUp(one: CodingUsage, other: CodingUsage): CodingUsage {
  const sum: { -readonly [Field in keyof CodingUsage]: CodingUsage[Field] } = { ...one };
  for (const field of ['inputTokens', 'outputTokens', 'costUsd'] as const) {
    const more = other[field];
    if (more !== undefined) sum[field] = Math.min((one[field] ?? 0) + more, Number.MAX_SAFE_INTEGER);
  }
  return sum;
}
