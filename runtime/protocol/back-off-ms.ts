import type { BackOff } from './back-off.ts';
import type { Random } from './seams.ts';

/** The wait in milliseconds after `failures` in a row; 0 when there were none. */
export function backOffMs(
  { firstMs, maxMs, factor, jitter }: BackOff,
  failures: number,
  random: Random,
): number {
  if (failures <= 0) return 0;
  const wait = Math.min(maxMs, firstMs * factor ** (failures - 1));
  return wait * (1 - jitter * random());
}
