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
 * - `nothing`    its agent found nothing that it could have looked at; there is nothing to judge.
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
  'nothing',
  'failed',
  'exhausted',
  'blocked',
  'escalated',
  'cancelled',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** Says whether an agent works on the task, or is about to: that takes up a place of the machine. */
export const isWork = (status: TaskStatus): boolean => status === 'proposed' || status === 'working';

/** Says whether an agent, the gate or the assigner has the task in hand, or is about to. */
export const isBusy = (status: TaskStatus): boolean =>
  isWork(status) || status === 'judging' || status === 'recovering';

/** Says whether nothing will change any more. */
export const isOver = (status: TaskStatus): boolean =>
  !isBusy(status) && status !== 'waiting' && status !== 'ready';

/** Says whether the task came to a good end: who depends on it may begin. */
export const isDone = (status: TaskStatus): boolean => status === 'accepted' || status === 'nothing';

/** Says whether whoever depends on the task waits in vain. */
export const isLost = (status: TaskStatus): boolean => isOver(status) && !isDone(status);
