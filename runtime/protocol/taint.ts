/**
 * Where something came from outside, for what that is: `mcp:search`, `a2a:key:7f3a`, `web:example.org`. Sorted, each once;
 * never empty: what came from nowhere outside has no taint (F-09).
 */
export type Taint = readonly string[];

/** So many sources are named; what is of more says `and others` at the end. */
const MOST = 16;
const OTHERS = '~and others';

/** Both together; the one that says it all, where one does. */
export function mergeTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || one === other) return other;
  if (other === undefined || other.every((source) => one.includes(source))) return one;
  const sources = [...new Set([...one, ...other])].sort();
  return sources.length <= MOST
    ? sources
    : [...sources.filter((source) => source !== OTHERS).slice(0, MOST), OTHERS];
}
