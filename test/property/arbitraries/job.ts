import type { Budget, Cost } from 'orrery';
import fc from 'fast-check';
import type { Job, Step } from '../../fixtures/agents/spending.ts';

/** Who gives jobs to those of the next layer only, so that no path runs in a circle. */
export const LAYERS = [
  ['a0', 'a1'],
  ['b0', 'b1', 'b2'],
  ['c0', 'c1', 'c2'],
  ['d0', 'd1'],
] as const;

export interface JobOptions {
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
export const arbBudget = (max: number): fc.Arbitrary<Budget> =>
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
export function arbJob(layer: number, options: JobOptions): fc.Arbitrary<Job> {
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
