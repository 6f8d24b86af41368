import type { Clock } from 'orrery';
import type { EarlierResult } from './earlier-result.ts';
import type { LoopNews } from './loop-event.ts';
import type { Team } from './team.ts';
import type { WorkItem } from './work-item.ts';

/** How long one ask may take in a mission without a time limit. */
const UNLIMITED_ASK_MS = 600_000;

/** The mission's own timer is to end the mission, not the deadline of the ask that happens to be open. */
const GRACE_MS = 250;

/**
 * What everything that belongs to one run of a mission shares.
 *
 * - `mission`       its name; the thread of what concerns no single task.
 * - `root`          the repository, absolute.
 * - `baseline`      the path of a former report.
 * - `deadlineAtMs`  Unix milliseconds when the mission's time is over; absent without a time limit.
 * - `signal`        aborts when the mission ends.
 * - `resultsOf`     what the items of these ids have come to.
 * - `runId`         of a run that outlives the process; the same when it is resumed.
 * - `assigner`, `gate`  the agents that decide who gets a task, and whether a result counts.
 */
export interface RunScope {
  readonly mission: string;
  readonly root: string;
  readonly baseline: string | undefined;
  readonly team: Team;
  readonly clock: Clock;
  readonly deadlineAtMs: number | undefined;
  readonly signal: AbortSignal;
  readonly assigner: string;
  readonly gate: string;
  readonly runId: string | undefined;
  readonly resultsOf: (ids: readonly string[]) => readonly EarlierResult[];
  readonly tell: (news: LoopNews) => void;
}

/** How long an ask that starts now may take: the rest of the mission's time. */
export function askTimeoutMs({ clock, deadlineAtMs }: RunScope): number {
  if (deadlineAtMs === undefined) return UNLIMITED_ASK_MS;
  return Math.max(0, deadlineAtMs - clock.now()) + GRACE_MS;
}

/** How long an answer to a proposal may take. Who works on another task answers when that is done. */
export const proposalTimeoutMs = (run: RunScope): number => askTimeoutMs(run);

/** What the agent of `item` is asked with: the input that the mission gives it, and what only the run knows. */
export function inputOf(
  { root, resultsOf, baseline }: RunScope,
  { input, after }: WorkItem,
): Record<string, unknown> {
  if (after.length === 0) return { ...input, root };
  return { ...input, root, results: resultsOf(after), ...(baseline === undefined ? {} : { baseline }) };
}
