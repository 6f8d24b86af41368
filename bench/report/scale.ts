/**
 * Values along an axis: where each is, and which are written below it.
 *
 * - `least`, `most`  what it reaches from and to; `at` puts what is beyond at its ends.
 */
export interface Scale {
  readonly kind: 'linear' | 'logarithmic';
  readonly least: number;
  readonly most: number;
  readonly ticks: readonly number[];
  readonly at: (value: number) => number;
}

/** Where on a page an axis lies. */
export interface Extent {
  readonly from: number;
  readonly width: number;
}

/** Beyond this factor between the least and the most, small values cannot be told apart on a linear axis. */
const MOST_LINEAR = 30;

/** A linear axis from nothing on, or a logarithmic one where the values are too far apart for that. */
export function scaleFor(least: number, most: number, extent: Extent): Scale {
  return least > 0 && most / least > MOST_LINEAR
    ? logarithmicScale(least, most, extent)
    : linearScale(most, extent);
}

/** From nothing to `most`, which is rounded up to a whole step. */
export function linearScale(most: number, { from, width }: Extent): Scale {
  const step = stepFor(most);
  const end = Math.max(step, Math.ceil(most / step) * step);
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, index) => index * step);
  const at = (value: number): number => from + clamped(value / end) * width;
  return { kind: 'linear', least: 0, most: end, ticks, at };
}

/** Whole powers of ten. */
function logarithmicScale(least: number, most: number, { from, width }: Extent): Scale {
  const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  const at = (value: number): number =>
    from + clamped((Math.log10(Math.max(value, Number.MIN_VALUE)) - low) / (high - low)) * width;
  return { kind: 'logarithmic', least: 10 ** low, most: 10 ** high, ticks, at };
}

const clamped = (share: number): number => Math.min(1, Math.max(0, share));

const MOST_STEPS = 6;

/** 1, 2 or 5 times a power of ten, so that at most six fit. */
function stepFor(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most / MOST_STEPS));
  return ([1, 2, 5, 10].find((factor) => factor * power * MOST_STEPS >= most) ?? 10) * power;
}
