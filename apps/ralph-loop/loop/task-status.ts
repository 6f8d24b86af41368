import { z } from 'zod';

/**
 * The status of a task.
 *
 * - `waiting`    for the tasks that it depends on.
 * - `ready`      to be assigned.
 * - `proposed`   an agent is asked whether it accepts it.
 * - `working`    an agent works on it.
 * - `judging`    the gate judges its result.
 * - `checking`   the gates of its change are run in its worktree.
 * - `reviewing`  its change has passed, and agents look whether they veto it.
 * - `held`       its change has passed and waits until somebody approves it.
 * - `resting`    its agent takes no more work for now.
 * - `merging`    its change is merged, and the gates are run on the result.
 * - `recovering` no agent is left, and the assigner is asked.
 * - `accepted`   the gate has approved its result.
 * - `nothing`    its agent had nothing to read; there is nothing to judge.
 * - `failed`     refused by the gate, or ended by an error that another attempt would not change.
 * - `exhausted`  its last attempt did not succeed.
 * - `blocked`    not worked on or not judged, through no fault of its own.
 * - `escalated`  no agent can do it; a human must decide.
 * - `cancelled`  the mission ended first, or somebody skipped it.
 */
export const TaskStatus = z.enum([
  'waiting',
  'ready',
  'proposed',
  'working',
  'judging',
  'checking',
  'reviewing',
  'held',
  'resting',
  'merging',
  'recovering',
  'accepted',
  'nothing',
  'failed',
  'exhausted',
  'blocked',
  'escalated',
  'cancelled',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** Whether an agent works on the task, or is about to. */
export const isWork = (status: TaskStatus): boolean => status === 'proposed' || status === 'working';

const IS_ON_ITS_WAY: ReadonlySet<TaskStatus> = new Set(['checking', 'reviewing', 'merging']);

/**
 * Whether the task counts against `maxParallel`: it is worked on, or its change is on its way to the branch. Whoever has one task at a
 * time has the next one begin on what the last one came to.
 */
export const isUnderWay = (status: TaskStatus): boolean => isWork(status) || IS_ON_ITS_WAY.has(status);

const IS_JUDGED: ReadonlySet<TaskStatus> = new Set(['judging', 'checking', 'reviewing', 'held', 'merging']);

/** Whether an agent, a gate or the assigner has the task, or is about to. */
export const isBusy = (status: TaskStatus): boolean =>
  isWork(status) || IS_JUDGED.has(status) || status === 'recovering' || status === 'resting';

/** Whether the status is final. */
export const isOver = (status: TaskStatus): boolean =>
  !isBusy(status) && status !== 'waiting' && status !== 'ready';

/** Whether it came to nothing, so that no run goes on with what it has left. */
export const isGivenUp = (status: TaskStatus): boolean => isLost(status) && status !== 'cancelled';

/** Whether the task has succeeded, so that tasks that depend on it may start. */
export const isDone = (status: TaskStatus): boolean => status === 'accepted' || status === 'nothing';

/** Whether the task has not succeeded, so that tasks that depend on it never start. */
export const isLost = (status: TaskStatus): boolean => isOver(status) && !isDone(status);
