import { z } from 'zod';

/**
 * Where something came from outside, for what that is: `mcp:search`, `a2a:key:7f3a`, `web:example.org`. Sorted, each once;
 * never empty: what came from nowhere outside has no taint (F-09).
 */
export const Taint = z.array(z.string().min(1)).min(1).readonly();
export type Taint = z.infer<typeof Taint>;

/** So many sources are named; what is of more says `and others` at the end. */
const MOST = 16;
const OTHERS = '~and others';

/** Both together; the one that says it all, where one does. */
export function mergeTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || one === other) return other;
  if (other === undefined || other.every((source) => one.includes(source))) return one;
  const both = taintFrom([...one, ...other]);
  // Of many sources not all are named: what comes then may change nothing.
  return both?.length === one.length && both.every((source, at) => source === one[at]) ? one : both;
}

/** Says whether whoever was told of `told` was told of every source of `taint`. */
export const isAmong = (taint: Taint | undefined, told: Taint | undefined): boolean =>
  taint === undefined || taint.every((source) => told?.includes(source) === true);

/** What is of these sources, in whatever order they are named. */
export function taintFrom(given: readonly string[]): Taint | undefined {
  if (given.length === 0) return undefined;
  const sources = [...new Set(given)].sort();
  const named = sources.filter((source) => source !== OTHERS);
  return named.length <= MOST ? sources : [...named.slice(0, MOST), OTHERS];
}
