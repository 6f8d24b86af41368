import type { Budget, Cost } from '../protocol/budget.ts';

/** A sum as accounts count it, in whole numbers: model tokens, and millionths of a dollar. Absent: not counted. */
export interface Amounts {
  readonly tokens?: number | undefined;
  readonly micros?: number | undefined;
}

const MICROS_A_USD = 1_000_000;
/** How far a product of two numbers may be off by rounding, relative to it. */
const NOISE = 2 ** -50;

/** What is granted: a part of a millionth is not. */
export const grantedAmounts = ({ tokens, costUsd }: Budget): Amounts => ({
  tokens,
  micros: costUsd === undefined ? undefined : wholeMicros(costUsd, Math.floor),
});

/** What is spent: a part of a millionth costs a whole one. */
export const spentAmounts = ({ tokens, costUsd }: Cost): Amounts => ({
  tokens,
  micros: costUsd === undefined ? undefined : wholeMicros(costUsd, Math.ceil),
});

/** The amounts in the units of a budget or a cost. */
export function budgetOf({ tokens, micros }: Amounts): { tokens?: number; costUsd?: number } {
  const budget: { tokens?: number; costUsd?: number } = {};
  if (tokens !== undefined) budget.tokens = tokens;
  if (micros !== undefined) budget.costUsd = micros / MICROS_A_USD;
  return budget;
}

/** 0.29 dollars are 290,000 millionths, although their product is a little less. */
function wholeMicros(costUsd: number, round: (micros: number) => number): number {
  const micros = costUsd * MICROS_A_USD;
  const nearest = Math.round(micros);
  return Math.abs(micros - nearest) <= nearest * NOISE ? nearest : round(micros);
}
