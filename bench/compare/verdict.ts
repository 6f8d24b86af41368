import { quantile } from '../statistics.ts';

/** What a comparison of two runs says of one number. */
export type Verdict = 'better' | 'worse' | 'same' | 'cannot say';

/** What is between two runs, as a factor; above 1 the later run is better. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly factor: number;
  /** Where the factor lies in 99 of 100 cases; unknown where there are too few values. */
  readonly interval?: { readonly low: number; readonly high: number };
}

/** Less than this is no difference that anybody would act on. */
export const LEAST_CHANGE = 0.05;
/** Of fewer values nobody can say how much they vary. */
export const FEWEST_VALUES = 5;
export const CONFIDENCE = 0.99;
const RESAMPLES = 2_000;
const SEED = 20_261_129;

/**
 * Judges the values of two runs by the ratio of their medians, and by a bootstrap interval of it.
 *
 * *better* or *worse*: the interval is on one side of 1, and the factor is 5 % from it or more. *same*: the whole interval is
 * within 5 % of 1. Everything else: *cannot say*.
 */
export function judge(
  before: readonly number[],
  after: readonly number[],
  better: 'more' | 'less',
): Judgement {
  const [base, value] = better === 'more' ? [before, after] : [after, before];
  const factor = medianOf(value) / medianOf(base);
  if (Math.min(before.length, after.length) < FEWEST_VALUES || !Number.isFinite(factor))
    return { verdict: 'cannot say', factor };
  const interval = intervalOf(base, value);
  return { verdict: verdictOf(factor, interval), factor, interval };
}

/** Judges two runs that have counted: every difference is one. */
export function judgeCounts(
  before: readonly number[],
  after: readonly number[],
  better: 'more' | 'less',
): Judgement {
  const [base, value] = better === 'more' ? [before, after] : [after, before];
  const factor = medianOf(value) / medianOf(base);
  if (medianOf(value) === medianOf(base)) return { verdict: 'same', factor: 1 };
  return { verdict: factor > 1 ? 'better' : 'worse', factor };
}

function verdictOf(factor: number, { low, high }: { low: number; high: number }): Verdict {
  const [least, most] = [1 / (1 + LEAST_CHANGE), 1 + LEAST_CHANGE];
  if (low > 1 && factor >= most) return 'better';
  if (high < 1 && factor <= least) return 'worse';
  return low >= least && high <= most ? 'same' : 'cannot say';
}

/** The same values have the same interval, whenever they are compared: the draws are always the same. */
function intervalOf(base: readonly number[], value: readonly number[]): { low: number; high: number } {
  const draw = draws(SEED);
  const resampled = (values: readonly number[]): number =>
    medianOf(values.map(() => values[Math.floor(draw() * values.length)] ?? Number.NaN));
  const factors = Array.from({ length: RESAMPLES }, () => resampled(value) / resampled(base)).sort(
    (a, b) => a - b,
  );
  const outside = (1 - CONFIDENCE) / 2;
  return { low: quantile(factors, outside), high: quantile(factors, 1 - outside) };
}

const medianOf = (values: readonly number[]): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );

/** Numbers from 0 up to 1, of a linear congruential generator. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
