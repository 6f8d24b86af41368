import type { Taint } from './taint.ts';

/** So many sources are named; what is of more says `and others` at the end. */
const MOST = 16;
const OTHERS = '~and others';

/** What is of these sources, in whatever order they are named. */
export function taintFrom(given: readonly string[]): Taint | undefined {
  if (given.length < 2) return given.length === 0 ? undefined : [...given];
  const sources = [...new Set(given)].sort();
  const named = sources.filter((source) => source !== OTHERS);
  return named.length <= MOST ? sources : [...named.slice(0, MOST), OTHERS];
}
