import { count, printable } from '../report/printable.ts';

/** Files that are named; the rest is counted. */
const MOST_NAMED = 20;

/**
 * The faults of a change that touches protected files, in words for the next attempt.
 *
 * - `changed` the files that were changed, added, deleted or moved, a moved one by its old and its new path.
 * - `matches` for each pattern the files of the change that git says it matches. Others than those of `changed` are ignored.
 */
export function protectedPathFaults(
  changed: readonly string[],
  matches: ReadonlyMap<string, readonly string[]>,
): string[] {
  const isChanged = new Set(changed);
  const patternOf = new Map<string, string>();
  for (const [pattern, paths] of matches) {
    for (const path of paths) if (isChanged.has(path) && !patternOf.has(path)) patternOf.set(path, pattern);
  }
  const faults = [...patternOf]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, pattern]) => `changed a protected file: ${printable(path)} (protected by "${pattern}")`);
  const more = faults.length - MOST_NAMED;
  return more <= 0
    ? faults
    : [...faults.slice(0, MOST_NAMED), `changed ${count(more, 'more protected file')}`];
}
