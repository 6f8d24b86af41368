import { z } from 'zod';

/**
 * Where a task stands.
 *
 * - `waiting`    for the tasks it depends on.
 * - `ready`      to be given to an agent.
 * - `proposed`   an agent was asked whether it takes it on.
 * - `working`    an agent has it.
 * - `judging`    the gate has its result.
 * - `recovering` nobody was left to do it: the assigner is asked what is to become of it.
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
  'proposed',
  'working',
  'judging',
  'recovering',
  'accepted',
  'failed',
  'exhausted',
  'blocked',
  'escalated',
  'cancelled',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** Says whether an agent or the gate has the task in hand, or is about to. */
export const isBusy = (status: TaskStatus): boolean =>
  status === 'proposed' || status === 'working' || status === 'judging' || status === 'recovering';

/** Says whether nothing will change any more. */
export const isOver = (status: TaskStatus): boolean =>
  !isBusy(status) && status !== 'waiting' && status !== 'ready';

/** Says whether whoever depends on the task waits in vain. */
export const isLost = (status: TaskStatus): boolean => isOver(status) && status !== 'accepted';
