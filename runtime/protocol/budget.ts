import { z } from 'zod';

/** The most tokens of a budget: beyond any use, and still exact when added up. */
const MAX_TOKENS = 1e14;
const MAX_COST_USD = 1e8;

const Tokens = z.int().nonnegative().max(MAX_TOKENS);
const CostUsd = z.number().nonnegative().max(MAX_COST_USD);

/**
 * What an agent may still spend on one envelope and everything it causes.
 *
 * - `tokens`  model tokens left; absent means unlimited.
 * - `costUsd` United States dollars left, counted in millionths.
 * - `hops`    delegations left; 0 means the receiver may not delegate further.
 */
export const Budget = z.strictObject({
  tokens: Tokens.optional(),
  costUsd: CostUsd.optional(),
  hops: z.int().nonnegative().optional(),
});
export type Budget = z.infer<typeof Budget>;

/** The cost of a piece of work, in model tokens and United States dollars. An absent amount is nothing. */
export const Cost = z.strictObject({ tokens: Tokens.optional(), costUsd: CostUsd.optional() });
export type Cost = z.infer<typeof Cost>;

/** The lower of two budgets, field by field; undefined when neither limits anything. */
export function narrower(one: Budget | undefined, other: Budget | undefined): Budget | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const budget: Budget = { ...one, ...other };
  for (const field of ['tokens', 'costUsd', 'hops'] as const) {
    const [here, there] = [one[field], other[field]];
    if (here !== undefined && there !== undefined) budget[field] = Math.min(here, there);
  }
  return budget;
}

/** The rest of a reservation: what was reserved less what was spent of it. */
export function restOf(reserved: Cost, spent: Cost): Cost {
  const rest: Cost = {};
  for (const field of ['tokens', 'costUsd'] as const) {
    const left = (reserved[field] ?? 0) - (spent[field] ?? 0);
    if (left > 0) rest[field] = left;
  }
  return rest;
}

/** Says whether an amount is used up, so that no more work is asked for under this budget. */
export const isUsedUp = ({ tokens, costUsd }: Budget): boolean => tokens === 0 || costUsd === 0;
