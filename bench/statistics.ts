import { z } from 'zod';

/** Middle and quartiles of some measured values. */
export const Spread = z.strictObject({
  median: z.number(),
  lowerQuartile: z.number(),
  upperQuartile: z.number(),
});
export type Spread = z.infer<typeof Spread>;

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    lowerQuartile: quantile(sorted, 0.25),
    upperQuartile: quantile(sorted, 0.75),
  };
}

/** The quartiles, as whole numbers. */
export const quartilesText = ({ lowerQuartile, upperQuartile }: Spread): string =>
  `[${lowerQuartile.toFixed(0)} .. ${upperQuartile.toFixed(0)}]`;

/** The value below which `share` of the ascending values lie, interpolated; NaN of none. */
export function quantile(ascending: readonly number[], share: number): number {
  const position = (ascending.length - 1) * share;
  const below = ascending[Math.floor(position)] ?? Number.NaN;
  const above = ascending[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/**
 * Ratios of values measured in the same round, which a neighbour's noise hits alike; rounds where one is missing are
 * left out.
 */
export function pairedRatios(
  over: readonly (number | undefined)[],
  under: readonly (number | undefined)[],
): readonly number[] {
  return over.flatMap((value, round) => {
    const base = under[round];
    return value === undefined || base === undefined ? [] : [value / base];
  });
}
