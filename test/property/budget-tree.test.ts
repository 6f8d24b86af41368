import type { Budget, OrreryError, System } from 'orrery';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Job, newTally, type Report, tallied, work } from '../fixtures/agents/spending.ts';
import { runModel } from '../fixtures/budget-model.ts';
import { systemWithCountedAccounts } from '../fixtures/counted-accounts.ts';
import { agent, until } from '../fixtures/until.ts';
import { arbBudget, arbJob, LAYERS } from './arbitraries/job.ts';

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
