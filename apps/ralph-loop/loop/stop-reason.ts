import { z } from 'zod';
import { isDone, type TaskStatus } from './task-status.ts';

/**
 * Why a mission ended.
 *
 * - `all-accepted`          every task was accepted, or had nothing to read.
 * - `findings-at-or-above`  every task was accepted, but there are findings of a severity that fails the run.
 * - `task-failed`           a task was refused by the gate, or ended by an error.
 * - `task-blocked`          a task could not be assigned or judged, because assigner or gate was unreachable.
 * - `attempts-exhausted`    a task used its last attempt without success.
 * - `time-limit`            the mission's time was over.
 * - `budget-limit`          its coding agents have used what they may use.
 * - `no-progress`           too many attempts in a row have come to nothing.
 * - `human-needed`          no agent can do a task.
 * - `interrupted`           the mission was stopped.
 */
export const StopReason = z.enum([
  'all-accepted',
  'findings-at-or-above',
  'task-failed',
  'task-blocked',
  'attempts-exhausted',
  'time-limit',
  'budget-limit',
  'no-progress',
  'human-needed',
  'interrupted',
]);
export type StopReason = z.infer<typeof StopReason>;

/** The exit codes of a process that ran a mission. An interrupted one exits with 129, 130 or 143, by its signal. */
export const EXIT_CODES: Readonly<Record<StopReason, number>> = {
  'all-accepted': 0,
  'findings-at-or-above': 1,
  'task-failed': 1,
  'task-blocked': 1,
  'attempts-exhausted': 2,
  'time-limit': 2,
  'budget-limit': 2,
  'no-progress': 2,
  'human-needed': 3,
  interrupted: 130,
};

/** What ended a mission before its tasks were over. */
export type Cut = 'time-limit' | 'budget-limit' | 'no-progress' | 'interrupted';

/**
 * The reason why a mission ended, by the statuses of its tasks. Of several reasons the one that needs most attention is
 * returned.
 */
export function stopReasonOf(statuses: readonly TaskStatus[], cut: Cut | undefined): StopReason {
  if (statuses.every(isDone)) return 'all-accepted';
  if (cut !== undefined) return cut;
  if (statuses.includes('escalated')) return 'human-needed';
  if (statuses.includes('failed')) return 'task-failed';
  if (statuses.includes('exhausted')) return 'attempts-exhausted';
  return 'task-blocked';
}
