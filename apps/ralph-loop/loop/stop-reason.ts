import { z } from 'zod';
import { isDone, type TaskStatus } from './task-status.ts';

/**
 * Why a mission ended.
 *
 * - `all-accepted`          every task was accepted, or found nothing that it could have looked at.
 * - `findings-at-or-above`  every task was accepted, but there are findings of a severity that was asked to
 *                           fail the run.
 * - `task-failed`           a task was refused by the gate, or ended by an error.
 * - `task-blocked`          a task could be given to nobody or judged by nobody, since who decides that was
 *                           out of reach.
 * - `attempts-exhausted`    a task used its last allowed attempt without success.
 * - `time-limit`            the mission's time was over.
 * - `human-needed`          no agent can do a task.
 * - `interrupted`           somebody stopped the mission.
 */
export const StopReason = z.enum([
  'all-accepted',
  'findings-at-or-above',
  'task-failed',
  'task-blocked',
  'attempts-exhausted',
  'time-limit',
  'human-needed',
  'interrupted',
]);
export type StopReason = z.infer<typeof StopReason>;

/** What a process that ran the mission exits with; an interrupted one says 130 or 143, by its signal. */
export const EXIT_CODES: Readonly<Record<StopReason, number>> = {
  'all-accepted': 0,
  'findings-at-or-above': 1,
  'task-failed': 1,
  'task-blocked': 1,
  'attempts-exhausted': 2,
  'time-limit': 2,
  'human-needed': 3,
  interrupted: 130,
};

/** What ended a mission before its tasks did. */
export type Cut = 'time-limit' | 'interrupted';

/**
 * Why a mission ended whose tasks came to `statuses`; among several reasons the one that asks for most
 * attention.
 */
export function stopReasonOf(statuses: readonly TaskStatus[], cut: Cut | undefined): StopReason {
  if (statuses.every(isDone)) return 'all-accepted';
  if (cut !== undefined) return cut;
  if (statuses.includes('escalated')) return 'human-needed';
  if (statuses.includes('failed')) return 'task-failed';
  if (statuses.includes('exhausted')) return 'attempts-exhausted';
  return 'task-blocked';
}
