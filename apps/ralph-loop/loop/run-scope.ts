import type { Clock } from 'orrery';
import type { CodingUsage } from 'orrery/coding';
import type { CodeWork } from '../code/code-work.ts';
import type { CodingBudget } from '../code/coding-budget.ts';
import { ATTEMPT_TIMEOUT_MS } from '../mission/mission.ts';
import type { MissionSkills } from '../skills/mission-skills.ts';
import type { EarlierResult } from './earlier-result.ts';
import type { LimitedAgents } from './limited-agents.ts';
import type { LoopNews } from './loop-event.ts';
import type { Team } from './team.ts';
import type { WorkItem } from './work-item.ts';

/** The timeout of an ask in a mission without a time limit, milliseconds. */
const UNLIMITED_ASK_MS = 600_000;

/** Added to the timeout of asks, so that the mission's timer fires first, milliseconds. */
const GRACE_MS = 250;

/** Added for a coding agent, which has to end its program after its time, milliseconds. */
const CHANGE_GRACE_MS = 60_000;

/**
 * What all parts of a run share.
 *
 * - `mission`       its name, which is also the correlation id of what concerns no single task.
 * - `root`          absolute path of the repository.
 * - `baseline`      path of an earlier report.
 * - `deadlineAtMs`  when the mission's time is over, Unix milliseconds; undefined without a limit.
 * - `signal`        aborts when the mission ends.
 * - `resultsOf`     returns the results of items by id.
 * - `inHandOf`      how many items an agent was given, and has not answered.
 * - `skills`        of the team, if it has any.
 * - `code`          work on the repository, if the mission changes it.
 * - `spending`      what its coding agents have used; `spend` takes what an attempt has used so far.
 * - `limited`       agents that take no more work for now.
 * - `runId`         id of a run that is stored; a resumed run keeps it.
 * - `assigner`, `gate` ids of the agents that assign tasks and judge results.
 * - `tell`          reports an event.
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
  readonly skills: Pick<MissionSkills, 'recall' | 'learn'> | undefined;
  readonly code:
    | Pick<
        CodeWork,
        'begin' | 'check' | 'changeOf' | 'merge' | 'giveUp' | 'left' | 'branch' | 'overlaps' | 'liveOverlaps'
      >
    | undefined;
  readonly spending: CodingBudget;
  readonly spend: (item: WorkItem, used: { readonly agent: string; readonly usage: CodingUsage }) => void;
  readonly limited: LimitedAgents;
  readonly runId: string | undefined;
  readonly resultsOf: (ids: readonly string[]) => readonly EarlierResult[];
  readonly inHandOf: (agent: string) => number;
  readonly tell: (news: LoopNews) => void;
}

/** The timeout of an ask that starts now: the rest of the mission's time, milliseconds. */
export function askTimeoutMs({ clock, deadlineAtMs }: RunScope): number {
  if (deadlineAtMs === undefined) return UNLIMITED_ASK_MS;
  return Math.max(0, deadlineAtMs - clock.now()) + GRACE_MS;
}

/** The timeout of an attempt that starts now, milliseconds: a change of the repository says itself how long it may take. */
export function attemptTimeoutMs(run: RunScope, { code }: WorkItem): number {
  if (code === undefined) return askTimeoutMs(run);
  const attemptMs = (code.limits.timeoutMs ?? ATTEMPT_TIMEOUT_MS) + CHANGE_GRACE_MS;
  return run.deadlineAtMs === undefined ? attemptMs : Math.min(attemptMs, askTimeoutMs(run));
}

/** The timeout of a proposal, milliseconds. An agent that works on another task answers after that. */
export const proposalTimeoutMs = (run: RunScope): number => askTimeoutMs(run);
