import type { Random } from '../protocol/seams.ts';
import type { BackOff } from './supervisor-options.ts';

/** The wait in milliseconds before a restart that `consecutive` others directly preceded; 0 when there were none. */
export function backOffMs(
  { firstMs, maxMs, factor, jitter }: BackOff,
  consecutive: number,
  random: Random,
): number {
  if (consecutive <= 0) return 0;
  const wait = Math.min(maxMs, firstMs * factor ** (consecutive - 1));
  return wait * (1 - jitter * random());
}
