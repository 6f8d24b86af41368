import { z } from 'zod';

/**
 * Where a task stands.
 *
 * - `waiting`    for the tasks it depends on.
 * - `ready`      to be given to an agent.
 * - `working`    an agent has it.
 * - `judging`    the gate has its result.
 * - `accepted`   the gate approved its result.
 * - `failed`     refused by the gate, or ended by an error that another attempt would not change.
 * - `exhausted`  its last allowed attempt did not succeed.
 * - `blocked`    never worked on or never judged, through no fault of its own.
 * - `escalated`  no agent can do it; a human must decide.
 * - `cancelled`  the mission ended first.
 */
export const TaskStatus = z.enum([
  'waiting',
  'ready',
  'working',
  'judging',
  'accepted',
  'failed',
  'exhausted',
  'blocked',
  'escalated',
  'cancelled',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** Says whether an agent or the gate has the task in hand. */
export const isBusy = (status: TaskStatus): boolean => status === 'working' || status === 'judging';

/** Says whether nothing will change any more. */
export const isOver = (status: TaskStatus): boolean =>
  !isBusy(status) && status !== 'waiting' && status !== 'ready';

/** Says whether whoever depends on the task waits in vain. */
export const isLost = (status: TaskStatus): boolean => isOver(status) && status !== 'accepted';
