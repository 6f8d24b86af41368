import { shownCommand } from '../gates/gate-command.ts';
import type { SpendingLimits } from '../code/coding-budget.ts';
import { ATTEMPT_TIMEOUT_MS } from '../mission/mission.ts';
import type { RunScope } from './run-scope.ts';
import type { ItemCode, WorkItem } from './work-item.ts';
import { type Taint, taintOfAll } from './work-taint.ts';

/** What the agent of an item is asked with, and where that came from outside. */
export interface WorkInput {
  readonly input: Readonly<Record<string, unknown>>;
  readonly taint: Taint | undefined;
}

/** The input of the mission, and what only the run knows. For a change of the repository `attempt` is given a worktree. */
export async function workInput(
  run: RunScope,
  item: WorkItem,
  { signal, attempt = 1 }: { readonly signal: AbortSignal; readonly attempt?: number },
): Promise<WorkInput> {
  const { root, resultsOf, baseline, skills, code, spending } = run;
  const { after, isRecalling } = item;
  const results = resultsOf(after);
  const recalled = isRecalling ? await skills?.recall(item, signal) : undefined;
  return {
    input: {
      ...item.input,
      ...(item.code === undefined || code === undefined
        ? { root }
        : codeRequest(item, item.code, {
            attempt,
            root: await code.begin(item, attempt, signal),
            left: spending.leftFor(item.id, item.code.limits),
          })),
      ...(after.length === 0 ? {} : { results, ...(baseline === undefined ? {} : { baseline }) }),
      ...(recalled === undefined ? {} : { remembered: recalled.remembered }),
    },
    taint: taintOfAll([...results.map(({ taint }) => taint), recalled?.taint]),
  };
}

/** What of a task a coding agent is told, beside what every agent is. */
const codeRequest = (
  { taskId: id, title, description, acceptance }: WorkItem,
  { gates, touches, protect, permission, limits: { maxTurns, timeoutMs = ATTEMPT_TIMEOUT_MS } }: ItemCode,
  { attempt, root, left }: { readonly attempt: number; readonly root: string; readonly left: SpendingLimits },
) => ({
  root,
  attempt,
  permission,
  limits: { timeoutMs, ...(maxTurns === undefined ? {} : { maxTurns }), ...left },
  task: { id, title, acceptance, ...(description === undefined ? {} : { description }) },
  gates: gates.map(({ name, run }) => `${name}: ${shownCommand(run)}`),
  touches,
  protect,
});
