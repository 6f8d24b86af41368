import type { Budget, OrreryError, System, Cost } from 'orrery';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Job, newTally, type Report, tallied, work, type Step } from '../fixtures/agents/spending.ts';
import { systemWithCountedAccounts } from '../fixtures/counted-accounts.ts';
import { agent, until } from '../fixtures/until.ts';

const microsOf = (costUsd: number | undefined): number | undefined =>
  costUsd === undefined ? undefined : Math.round(costUsd * 1e6);

const AMOUNTS = ['tokens', 'micros'] as const;
type Amounts = { tokens?: number | undefined; micros?: number | undefined };

const amountsOf = ({ tokens, costUsd }: Cost): Amounts => ({ tokens, micros: microsOf(costUsd) });

function shown({ tokens, micros }: Amounts): Cost {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(micros === undefined ? {} : { costUsd: micros / 1e6 }),
  };
}

/** What budgets are meant to do, said without threads, slots or millionths of a second: one thing after the other. */
class ModelAccount {
  readonly own: Amounts;
  readonly above: ModelAccount | undefined;
  readonly hops: number | undefined;

  constructor(own: Amounts, above: ModelAccount | undefined, hops: number | undefined) {
    this.own = own;
    this.above = above;
    this.hops = hops;
  }

  holder(amount: (typeof AMOUNTS)[number]): ModelAccount | undefined {
    return this.own[amount] === undefined ? this.above?.holder(amount) : this;
  }

  get left(): Amounts {
    return { tokens: this.holder('tokens')?.own.tokens, micros: this.holder('micros')?.own.micros };
  }

  /** Both or neither. */
  take(amounts: Amounts): boolean {
    const { left } = this;
    for (const amount of AMOUNTS) if ((amounts[amount] ?? 0) > (left[amount] ?? Infinity)) return false;
    this.give({ tokens: -(amounts.tokens ?? 0), micros: -(amounts.micros ?? 0) });
    return true;
  }

  give(amounts: Amounts): void {
    for (const amount of AMOUNTS) {
      const holder = this.holder(amount);
      if (holder !== undefined) holder.own[amount] = (holder.own[amount] as number) + (amounts[amount] ?? 0);
    }
  }
}

interface ModelRun {
  readonly report: Report;
  readonly left: Budget;
  readonly spent: { readonly tokens: number; readonly micros: number };
}

/** What becomes of `job` on `budget`, when everything is done one after the other. */
function runModel(job: Job, budget: Budget): ModelRun {
  const root = new ModelAccount(amountsOf(budget), undefined, budget.hops);
  const spent = { tokens: 0, micros: 0 };
  const report = give(job, root, { spent, isDelegation: false });
  const { hops } = budget;
  return { report, spent, left: { ...shown(root.left), ...(hops === undefined ? {} : { hops }) } };
}

interface Circumstances {
  readonly spent: { tokens: number; micros: number };
  readonly isDelegation: boolean;
}

function give(job: Job, above: ModelAccount, { spent, isDelegation }: Circumstances): Report {
  const { budget = {} } = job;
  if (isDelegation && above.hops === 0) return ['HOP_LIMIT'];
  const most = above.hops === undefined ? Infinity : above.hops - (isDelegation ? 1 : 0);
  const hops = Math.min(most, budget.hops ?? Infinity);
  const own = amountsOf(budget);
  if (!above.take(own)) return ['BUDGET_EXCEEDED'];
  const account = new ModelAccount(own, above, hops === Infinity ? undefined : hops);
  const report = isUsedUp(account) ? ['BUDGET_EXCEEDED'] : perform(job.steps, account, spent);
  above.give(account.own);
  return report;
}

const isUsedUp = ({ left }: ModelAccount): boolean => left.tokens === 0 || left.micros === 0;

function perform(steps: readonly Step[], account: ModelAccount, spent: Circumstances['spent']): Report {
  const own = { tokens: 0, micros: 0 };
  const report: Report[number][] = [];
  for (const step of steps) {
    if (step.do === 'fail') return ['REFUSED'];
    if (step.do === 'die') return ['HANDLER_FAILED'];
    if (step.do === 'pass') {
      const { hops } = account;
      report.push({ left: { ...shown(account.left), ...(hops === undefined ? {} : { hops }) } });
    }
    if (step.do === 'ask')
      report.push({ jobs: step.jobs.map((job) => give(job, account, { spent, isDelegation: true })) });
    if (step.do === 'spend') {
      const amounts = amountsOf(step.cost);
      const { left } = account;
      if (account.take(amounts)) {
        add(amounts, 1, own, spent);
        report.push('ok');
      } else report.push({ refused: { asked: shown(amounts), left: shown(left) } });
    }
    if (step.do === 'refund') {
      const amounts = amountsOf(step.cost);
      if (AMOUNTS.some((amount) => (amounts[amount] ?? 0) > own[amount]))
        report.push({ refused: 'INVALID_OPTIONS' });
      else {
        account.give(amounts);
        add(amounts, -1, own, spent);
        report.push('ok');
      }
    }
  }
  return report;
}

function add(amounts: Amounts, sign: 1 | -1, ...sums: { tokens: number; micros: number }[]): void {
  for (const sum of sums) for (const amount of AMOUNTS) sum[amount] += sign * (amounts[amount] ?? 0);
}

/** Who gives jobs to those of the next layer only, so that no path runs in a circle. */
const LAYERS = [
  ['a0', 'a1'],
  ['b0', 'b1', 'b2'],
  ['c0', 'c1', 'c2'],
  ['d0', 'd1'],
] as const;

interface JobOptions {
  /** Several at once, and jobs that nobody waits for: what then happens first is open. */
  readonly isParallel: boolean;
  /** What a job may come to: it dies only where actors may be lost. */
  readonly ends: readonly ('fail' | 'die')[];
}

const EXACT = { requiredKeys: [], noNullPrototype: true };
const arbUsd = (max: number) => fc.nat(max).map((cents) => cents / 100);

const arbCost = (): fc.Arbitrary<Cost> =>
  fc.oneof(
    fc.record({ tokens: fc.nat(40) }, { noNullPrototype: true }),
    fc.record({ tokens: fc.nat(40), costUsd: arbUsd(40) }, EXACT),
  );

/** Seldom next to nothing. */
const arbAmount = (max: number) =>
  fc.oneof(
    { arbitrary: fc.nat(3), weight: 1 },
    { arbitrary: fc.integer({ min: Math.ceil(max / 4), max }), weight: 6 },
  );

const seldom = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, { arbitrary, weight: 1 });
const mostly = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 1 }, { arbitrary, weight: 3 });

/** Budgets of which some leave a kind of amount, or everything, to what is above. */
const arbBudget = (max: number): fc.Arbitrary<Budget> =>
  fc
    .record({
      tokens: mostly(arbAmount(max)),
      costUsd: mostly(arbAmount(max).map((cents) => cents / 100)),
      hops: seldom(fc.nat(3)),
    })
    .map(({ tokens, costUsd, hops }) => ({
      ...(tokens === undefined ? {} : { tokens }),
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(hops === undefined ? {} : { hops }),
    }));

const arbOwn = (): fc.Arbitrary<Pick<Job, 'budget'>> =>
  fc.oneof(
    { arbitrary: fc.constant({}), weight: 2 },
    fc.record({ budget: arbBudget(60) }, { noNullPrototype: true }),
  );

const arbSpending = (): fc.Arbitrary<Step> =>
  fc.oneof(
    { arbitrary: fc.record({ do: fc.constant('spend' as const), cost: arbCost() }), weight: 5 },
    { arbitrary: fc.record({ do: fc.constant('refund' as const), cost: arbCost() }), weight: 1 },
    { arbitrary: fc.constant<Step>({ do: 'pass' }), weight: 2 },
  );

function arbStep(layer: number, options: JobOptions): fc.Arbitrary<Step> {
  if (layer + 1 === LAYERS.length) return arbSpending();
  const arbAsk: fc.Arbitrary<Step> = fc.record({
    do: fc.constant('ask' as const),
    jobs: fc.array(arbJob(layer + 1, options), { minLength: 1, maxLength: 3, size: 'max' }),
    isParallel: options.isParallel ? fc.boolean() : fc.constant(false),
  });
  const arbTell: fc.Arbitrary<Step> = fc.record({
    do: fc.constant('tell' as const),
    job: arbJob(layer + 1, options),
  });
  return fc.oneof(
    { arbitrary: arbSpending(), weight: 4 },
    { arbitrary: arbAsk, weight: 4 },
    { arbitrary: arbTell, weight: options.isParallel ? 1 : 0 },
  );
}

/** A job for an agent of this layer: spends, and gives parts of it to those below. */
function arbJob(layer: number, options: JobOptions): fc.Arbitrary<Job> {
  const arbEnd: fc.Arbitrary<Step[]> = fc.oneof(
    { arbitrary: fc.constant<Step[]>([]), weight: 12 },
    {
      arbitrary: fc.constantFrom(...options.ends).map((end): Step[] => [{ do: end }]),
      weight: options.ends.length,
    },
  );
  return fc
    .record({
      agent: fc.constantFrom(...(LAYERS[layer] as readonly string[])),
      own: arbOwn(),
      steps: fc.array(arbStep(layer, options), { minLength: 1, maxLength: 4, size: 'max' }),
      end: arbEnd,
    })
    .map(({ agent, own, steps, end }) => ({ agent, ...own, steps: [...steps, ...end] }));
}

let system: System;
let open: () => number;

beforeAll(async () => {
  // In every layer some are in the embedder's thread, and some in each worker.
  const names = LAYERS.flat();
  const isolated = names.filter((_, at) => at % 3 > 0);
  ({ system, open } = await systemWithCountedAccounts({
    agents: [
      agent('spender', {
        instances: names.filter((name) => !isolated.includes(name)),
        isolation: 'inline' as const,
      }),
      ...isolated.map((name) => agent('spender', { instances: [name] })),
    ],
    supervision: { intensity: { maxRestarts: 1e9 }, backOff: { firstMs: 1, maxMs: 1 } },
  }));
});
afterAll(() => system.stop());

/** Has the job done on a budget of its own; says what was spent, by whomever, and what is left when all of it is over. */
async function run(job: Job, budget: Budget) {
  const tally = newTally();
  using account = system.openAccount(budget);
  const { budget: own } = job;
  const report: Report = await account
    .ask({ agent: job.agent, capability: work }, { job, tally }, own === undefined ? {} : { budget: own })
    .catch(({ code }: OrreryError) => [code]);
  // What was told goes on after the answer, and need have no account of its own yet.
  await until('nothing is under way', async () => (await system.conservation()).inFlight === 0);
  await until('only the account itself is left', () => open() === 1);
  return { report, left: account.left, spent: account.spent, tallied: tallied(tally) };
}

const usdOf = (micros: number): number => micros / 1e6;

describe('A budget (F-04)', () => {
  it('is spent by a tree of agents, one after the other, as if it were one book', async () => {
    const arbTree = arbJob(0, { isParallel: false, ends: ['fail', 'die'] });
    await fc.assert(
      fc.asyncProperty(arbTree, arbBudget(200), async (job, budget) => {
        const result = await run(job, budget);
        const model = runModel(job, budget);
        expect(result.report).toEqual(model.report);
        expect(result.left).toEqual(model.left);
        expect(result.tallied).toEqual(model.spent);
        expect(result.spent).toEqual({ tokens: model.spent.tokens, costUsd: usdOf(model.spent.micros) });
        expect(open()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('is never exceeded by agents that work at once, refused only where it is short, and comes back whole', async () => {
    const arbTree = arbJob(0, { isParallel: true, ends: ['fail', 'die'] });
    await fc.assert(
      fc.asyncProperty(arbTree, arbBudget(200), async (job, budget) => {
        const { report, left, spent, tallied: sum } = await run(job, budget);
        const { tokens = Infinity, costUsd = Infinity } = budget;
        expect(sum.tokens).toBeLessThanOrEqual(tokens);
        expect(sum.micros).toBeLessThanOrEqual(Math.round(costUsd * 1e6));
        expect(left.tokens ?? Infinity).toBe(tokens - sum.tokens);
        expect(left.costUsd ?? Infinity).toBeCloseTo(costUsd - usdOf(sum.micros), 9);
        expect(spent).toEqual({ tokens: sum.tokens, costUsd: usdOf(sum.micros) });
        for (const refusal of refusals(report)) expect(isShort(refusal)).toBe(true);
        expect(open()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

interface Refusal {
  readonly asked: Budget;
  readonly left: Budget;
}

function* refusals(report: Report): Iterable<Refusal> {
  for (const entry of report) {
    if (typeof entry !== 'object') continue;
    if ('refused' in entry && typeof entry.refused === 'object') yield entry.refused as Refusal;
    if ('jobs' in entry) for (const below of entry.jobs) yield* refusals(below);
  }
}

const isShort = ({ asked, left }: Refusal): boolean =>
  (asked.tokens ?? 0) > (left.tokens ?? Infinity) || (asked.costUsd ?? 0) > (left.costUsd ?? Infinity);
