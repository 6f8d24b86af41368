/** Values along an axis: where each is, and which are written below it. */
export interface Scale {
  readonly most: number;
  readonly ticks: readonly number[];
  readonly at: (value: number) => number;
}

/** From nothing to `most`, which is rounded up to a whole step. */
export function linearScale(most: number, from: number, width: number): Scale {
  const step = stepFor(most);
  const end = Math.max(step, Math.ceil(most / step) * step);
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, index) => index * step);
  return { most: end, ticks, at: (value) => from + (Math.min(Math.max(value, 0), end) / end) * width };
}

const MOST_STEPS = 6;

/** 1, 2 or 5 times a power of ten, so that at most six fit. */
function stepFor(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most / MOST_STEPS));
  return ([1, 2, 5, 10].find((factor) => factor * power * MOST_STEPS >= most) ?? 10) * power;
}
