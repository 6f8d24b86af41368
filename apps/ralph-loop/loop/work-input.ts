import type { RunScope } from './run-scope.ts';
import type { WorkItem } from './work-item.ts';
import { type Taint, taintOfAll } from './work-taint.ts';

/** What the agent of an item is asked with, and where that came from outside. */
export interface WorkInput {
  readonly input: Readonly<Record<string, unknown>>;
  readonly taint: Taint | undefined;
}

/** The input of the mission, and what only the run knows. */
export async function workInput(
  { root, resultsOf, baseline, skills }: RunScope,
  item: WorkItem,
  signal: AbortSignal,
): Promise<WorkInput> {
  const { after, isRecalling } = item;
  const results = resultsOf(after);
  const recalled = isRecalling ? await skills?.recall(item, signal) : undefined;
  return {
    input: {
      ...item.input,
      root,
      ...(after.length === 0 ? {} : { results, ...(baseline === undefined ? {} : { baseline }) }),
      ...(recalled === undefined ? {} : { remembered: recalled.remembered }),
    },
    taint: taintOfAll([...results.map(({ taint }) => taint), recalled?.taint]),
  };
}
