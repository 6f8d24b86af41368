import { z } from 'zod';
import { taintFrom } from './taint-from.ts';

/**
 * Where something came from outside, for what that is: `mcp:search`, `a2a:key:7f3a`, `web:example.org`. Sorted, each once;
 * never empty: what came from nowhere outside has no taint (F-09).
 */
export const Taint = z.array(z.string().min(1)).min(1).readonly();
export type Taint = z.infer<typeof Taint>;

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
