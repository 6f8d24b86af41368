import type { RunScope } from './run-scope.ts';
import type { WorkItem } from './work-item.ts';
import { type Taint, taintOfAll } from './work-taint.ts';

/** What the agent of an item is asked with, and where that came from outside. */
export interface WorkInput {
  readonly input: Readonly<Record<string, unknown>>;
  readonly taint: Taint | undefined;
}

/** The input of the mission, and what only the run knows. */
export function workInput({ root, resultsOf, baseline }: RunScope, { input, after }: WorkItem): WorkInput {
  if (after.length === 0) return { input: { ...input, root }, taint: undefined };
  const results = resultsOf(after);
  return {
    input: { ...input, root, results, ...(baseline === undefined ? {} : { baseline }) },
    taint: taintOfAll(results.map(({ taint }) => taint)),
  };
}
