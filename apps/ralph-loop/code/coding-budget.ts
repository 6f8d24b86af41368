import type { CodingUsage } from 'orrery/coding';

/** What may be used, or was. What is absent is not limited, or not known. */
export interface Spent {
  readonly tokens: number;
  readonly costUsd: number;
}

/** What may be used of each. */
export interface SpendingLimits {
  readonly maxTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
}

/** The share of a limit at which is warned. */
const NEAR = 0.8;
/** What is left when nothing is: a limit has to be above zero. */
const LEAST_COST_USD = 0.000_001;

/** A limit that four fifths are used of. */
export interface NearLimit {
  readonly task: string | undefined;
  readonly what: 'tokens' | 'costUsd';
  readonly used: number;
  readonly limit: number;
}

/** What the coding agents of a mission have used, by task. Each attempt tells all that it has used so far. */
export class CodingBudget {
  readonly #limits: SpendingLimits;
  /** By task, of agents that are done; and by task and agent, of those that are at it. */
  readonly #before = new Map<string, Spent>();
  readonly #now = new Map<string, Map<string, Spent>>();
  readonly #warned = new Set<string>();

  /** `before`: what was used in this run before it was interrupted. */
  constructor(limits: SpendingLimits, before: ReadonlyMap<string, Spent> = new Map()) {
    this.#limits = limits;
    for (const [task, spent] of before) this.#before.set(task, spent);
  }

  /** Takes what an agent that is at it has used so far. Returns the limits that came near by it. */
  used(
    task: string,
    { agent, usage }: { readonly agent: string; readonly usage: CodingUsage },
    ofTask: SpendingLimits,
  ): NearLimit[] {
    const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = usage;
    const now = this.#now.get(task) ?? new Map<string, Spent>();
    this.#now.set(task, now.set(agent, { tokens: inputTokens + outputTokens, costUsd }));
    return [
      ...this.#near(task, this.ofTask(task), ofTask),
      ...this.#near(undefined, this.total, this.#limits),
    ];
  }

  /** Says that an agent is at it no more. What it uses when it is asked again counts beside. */
  ended(task: string, agent: string): void {
    const now = this.#now.get(task);
    this.#before.set(task, sum([this.#before.get(task), now?.get(agent)]));
    now?.delete(agent);
  }

  ofTask(task: string): Spent {
    return sum([this.#before.get(task), ...(this.#now.get(task)?.values() ?? [])]);
  }

  get total(): Spent {
    return sum([...this.#before.values(), ...[...this.#now.values()].flatMap((now) => [...now.values()])]);
  }

  /** Whether the mission has used what it may. */
  get isOver(): boolean {
    return isSpent(this.total, this.#limits);
  }

  /** What an attempt of the task may use: the rest of the task's, and of the mission's. */
  leftFor(task: string, ofTask: SpendingLimits): { maxTokens?: number; maxCostUsd?: number } {
    const rests = [left(this.ofTask(task), ofTask), left(this.total, this.#limits)];
    const maxTokens = Math.min(...rests.map(({ tokens }) => tokens));
    const maxCostUsd = Math.min(...rests.map(({ costUsd }) => costUsd));
    return {
      ...(Number.isFinite(maxTokens) ? { maxTokens: Math.max(1, maxTokens) } : {}),
      ...(Number.isFinite(maxCostUsd) ? { maxCostUsd: Math.max(LEAST_COST_USD, maxCostUsd) } : {}),
    };
  }

  #near(task: string | undefined, used: Spent, { maxTokens, maxCostUsd }: SpendingLimits): NearLimit[] {
    const limits = [
      { what: 'tokens', used: used.tokens, limit: maxTokens },
      { what: 'costUsd', used: used.costUsd, limit: maxCostUsd },
    ] as const;
    return limits.flatMap(({ what, used: now, limit }) => {
      const key = `${what} ${task ?? ''}`;
      if (limit === undefined || now < limit * NEAR || this.#warned.has(key)) return [];
      this.#warned.add(key);
      return [{ task, what, used: now, limit }];
    });
  }
}

const sum = (parts: readonly (Spent | undefined)[]): Spent => ({
  tokens: parts.reduce((all, part) => all + (part?.tokens ?? 0), 0),
  costUsd: parts.reduce((all, part) => all + (part?.costUsd ?? 0), 0),
});

const left = (used: Spent, { maxTokens, maxCostUsd }: SpendingLimits): Spent => ({
  tokens: (maxTokens ?? Number.POSITIVE_INFINITY) - used.tokens,
  costUsd: (maxCostUsd ?? Number.POSITIVE_INFINITY) - used.costUsd,
});

const isSpent = (used: Spent, limits: SpendingLimits): boolean => {
  const { tokens, costUsd } = left(used, limits);
  return tokens <= 0 || costUsd <= 0;
};
