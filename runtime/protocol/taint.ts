import { z } from 'zod';
import { taintFrom } from './taint-from.ts';

/**
 * The sources outside from which something came, such as `mcp:search`, `a2a:key:7f3a` or `web:example.org`. They are sorted, each
 * once. A taint is never empty: what came from inside has none (F-09).
 */
export const Taint = z.array(z.string().min(1)).min(1).readonly();
export type Taint = z.infer<typeof Taint>;

/** The taint of both together. If one holds all sources of the other, that very object. */
export function mergeTaint(one: Taint | undefined, other: Taint | undefined): Taint | undefined {
  if (one === undefined || one === other) return other;
  if (other === undefined || other.every((source) => one.includes(source))) return one;
  const both = taintFrom([...one, ...other]);
  // A taint with the most sources names no more: another source may change nothing.
  return both?.length === one.length && both.every((source, at) => source === one[at]) ? one : both;
}

/** Says whether `told` holds every source of `taint`. */
export const isAmong = (taint: Taint | undefined, told: Taint | undefined): boolean =>
  taint === undefined || taint.every((source) => told?.includes(source) === true);
