import type { RateUnit } from '../measurement.ts';
import type { Spread } from '../statistics.ts';

const BYTES_A_MB = 1e6;

/** With as many digits as are worth reading. */
export function round(value: number): string {
  const size = Math.abs(value);
  const digits = size < 10 ? 2 : size < 100 ? 1 : 0;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

export const ratio = (value: number): string => `${value.toFixed(2)}x`;

export const megabytes = (bytes: number): string => `${round(bytes / BYTES_A_MB)} MB`;

/** A rate as its race shows it. */
export function rate(perSecond: number, unit: RateUnit): string {
  return unit === 'per second' ? `${round(perSecond)}/s` : `${round(1e6 / perSecond)} us`;
}

/** The quartiles of rates, the smaller number first. */
export function rateQuartiles({ lowerQuartile, upperQuartile }: Spread, unit: RateUnit): string {
  const [low, high] = unit === 'per second' ? [lowerQuartile, upperQuartile] : [upperQuartile, lowerQuartile];
  return `[${rate(low, unit)} .. ${rate(high, unit)}]`.replace(/(\/s| us)(?= \.\.)/, '');
}

export const ratioQuartiles = ({ lowerQuartile, upperQuartile }: Spread): string =>
  `[${lowerQuartile.toFixed(2)} .. ${upperQuartile.toFixed(2)}]`;
