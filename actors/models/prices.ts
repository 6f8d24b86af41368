import { z } from 'zod';
import type { Cost } from '../../runtime/protocol/budget.ts';

const PerMillion = z.number().nonnegative().max(1e6);

/**
 * What a model costs, in United States dollars a million tokens; a local one costs 0.
 *
 * - `cachedInputPerMillion` of input that the provider says it had already. @default inputPerMillion
 */
export const Prices = z.strictObject({
  inputPerMillion: PerMillion,
  outputPerMillion: PerMillion,
  cachedInputPerMillion: PerMillion.optional(),
});
export type Prices = z.infer<typeof Prices>;

/** What goes into a model and comes out of it. `cachedInput` is a part of `input`. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}

/** A sum in whole numbers, in which nothing is lost: model tokens, and millionths of a dollar. */
export interface Amount {
  readonly tokens: number;
  readonly micros: number;
}

/** Dollars a million tokens are millionths of a dollar a token; a part of a millionth counts as one. Without prices: free. */
export function amountOf({ input, output, cachedInput = 0 }: Tokens, prices: Prices | undefined): Amount {
  const tokens = input + output;
  if (prices === undefined) return { tokens, micros: 0 };
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = prices;
  const cached = Math.min(cachedInput, input);
  const micros =
    (input - cached) * inputPerMillion + cached * cachedInputPerMillion + output * outputPerMillion;
  return { tokens, micros: Math.ceil(roundedOff(micros)) };
}

/** Rounds a sum that floating point has moved a little off a whole number. */
function roundedOff(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(value - nearest) <= nearest * 2 ** -40 ? nearest : value;
}

const MICROS_A_USD = 1_000_000;

/** The amount as accounts are told it. */
export const costOf = ({ tokens, micros }: Amount): { tokens: number; costUsd: number } => ({
  tokens,
  costUsd: micros / MICROS_A_USD,
});

/** What a budget has left; Infinity where it has no limit. */
export const amountIn = ({ tokens, costUsd }: Cost): Amount => ({
  tokens: tokens ?? Number.POSITIVE_INFINITY,
  micros: costUsd === undefined ? Number.POSITIVE_INFINITY : Math.floor(roundedOff(costUsd * MICROS_A_USD)),
});
