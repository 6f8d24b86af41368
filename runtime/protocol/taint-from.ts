import type { Taint } from './taint.ts';

/** The most sources that a taint names. One with more ends with `and others`. */
const MOST = 16;
const OTHERS = '~and others';

/** The taint of these sources, in any order; undefined without any. */
export function taintFrom(given: readonly string[]): Taint | undefined {
  if (given.length < 2) return given.length === 0 ? undefined : [...given];
  const sources = [...new Set(given)].sort();
  const named = sources.filter((source) => source !== OTHERS);
  return named.length <= MOST ? sources : [...named.slice(0, MOST), OTHERS];
}
