import type { Comparison } from '../measurement.ts';

const OF: Readonly<Record<Comparison['of'], string>> = { rate: '', time: 'time of ', cpu: 'CPU of ' };

/** A comparison as a row of a table. */
export const comparisonName = ({ contender, baseline, of }: Comparison): string =>
  `${OF[of]}${contender} / ${baseline}`;
