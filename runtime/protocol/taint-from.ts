import type { Taint } from './taint.ts';

/** The most sources that a taint names. One with more ends with `and others`. */
const MOST = 16;
const OTHERS = '~and others';

/** The taint of these sources, in any order; undefined without any. */
export function taintFrom(given: readonly string[]): Taint | undefined {
  if (given.length === 0) return undefined;
  if (given.length <= MOST && isSorted(given)) return [...given];
  const sources = [...new Set(given)].sort();
  const named = sources.filter((source) => source !== OTHERS);
  return named.length <= MOST ? sources : [...named.slice(0, MOST), OTHERS];
}

/** Whether each comes after the one before, and so only once. */
function isSorted(sources: readonly string[]): boolean {
  for (let at = 1; at < sources.length; at++)
    if ((sources[at - 1] as string) >= (sources[at] as string)) return false;
  return true;
}
