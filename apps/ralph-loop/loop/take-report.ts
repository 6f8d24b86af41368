import { CodingEvent, type CodingUsage } from 'orrery/coding';
import type { RunScope } from './run-scope.ts';
import type { WorkItem } from './work-item.ts';

/** Takes what a coding agent tells. Returns what it has used, if it tells that. What is no such event is somebody else's report. */
export function takeReport(
  { tell, spend }: Pick<RunScope, 'tell' | 'spend'>,
  { item, agent, report }: { readonly item: WorkItem; readonly agent: string; readonly report: unknown },
): CodingUsage | undefined {
  const { data: event } = CodingEvent.safeParse(report);
  if (event === undefined) return undefined;
  tell({ type: 'task.coding', task: item.id, agent, event });
  if (event.type !== 'usage') return undefined;
  spend(item, { agent, usage: event.usage });
  return event.usage;
}
