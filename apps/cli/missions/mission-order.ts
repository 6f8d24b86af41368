import { isOver, type MissionControl, nearest, printable } from '@orrery/ralph-loop';
import { z } from 'zod';
import { UsageError } from '../usage-error.ts';
import type { MissionTally } from './mission-tally.ts';

const MAX_NAME = 64;
const MAX_TASK = 512;
const MAX_LISTED = 40;

const By = z.string().trim().min(1).max(MAX_NAME).transform(printable);
const Task = z.string().min(1).max(MAX_TASK);

/** What a running mission can be told. - `by` who says it. */
export const MissionOrder = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('state') }),
  z.strictObject({ type: z.enum(['stop', 'pause', 'continue']), by: By }),
  z.strictObject({ type: z.enum(['skip', 'approve']), task: Task, by: By }),
]);
export type MissionOrder = z.infer<typeof MissionOrder>;

/** What has come of an order, as a sentence. */
export const OrderAnswer = z.strictObject({ said: z.string().max(8_192) });
export type OrderAnswer = z.infer<typeof OrderAnswer>;

/** What orders act on. - `control` undefined before it runs. - `stop` returns whether it was not being stopped already. */
export interface Steered {
  readonly mission: string;
  readonly tally: MissionTally;
  readonly control: MissionControl | undefined;
  readonly stop: (by: string) => boolean;
}

type Steering = Exclude<MissionOrder, { readonly type: 'state' }>;

/** Obeys an order and says what has come of it. Throws UsageError, saying why, where it changes nothing. */
export function obey(order: Steering, { mission, tally, control, stop }: Steered): string {
  const refuse = (why: string): UsageError => new UsageError(`"${mission}": ${why}`);
  if (tally.stopReason !== undefined) throw refuse(`it is over: ${tally.stopReason}`);
  if (order.type === 'stop') {
    if (stop(order.by)) return `"${mission}" is being stopped`;
    throw refuse('it is being stopped already');
  }
  if (control === undefined) throw refuse('its agents are starting; nothing is begun yet');
  switch (order.type) {
    case 'pause':
      if (control.pause(order.by))
        return `"${mission}" is paused: no task is begun any more, until 'orrery continue'`;
      throw refuse(
        tally.pausedBy === undefined ? 'it is being stopped' : `${tally.pausedBy} has paused it already`,
      );
    case 'continue':
      if (control.goOn(order.by)) return `"${mission}" goes on`;
      throw refuse(tally.pausedBy === undefined ? 'it is not paused' : 'it is being stopped');
    case 'skip':
    case 'approve':
      return obeyOfTask(order, { mission, tally, control });
  }
}

type OfTask = Extract<MissionOrder, { readonly type: 'skip' | 'approve' }>;

function obeyOfTask(
  { type, task: id, by }: OfTask,
  { mission, tally, control }: Pick<Steered, 'mission' | 'tally'> & { readonly control: MissionControl },
): string {
  const task = tally.tasks.find((one) => one.id === id);
  if (task === undefined) throw new UsageError(noTask(id, mission, tally));
  const { status } = task;
  if (type === 'skip') {
    if (control.skip(id, by)) return `${id} of "${mission}" is skipped`;
    const why = isOver(status) ? 'only a task that is not over can be skipped' : 'it cannot be skipped now';
    throw new UsageError(`${id} of "${mission}" is ${status}: ${why}`);
  }
  if (control.approve(id, by)) return `${id} of "${mission}" is approved, and is merged`;
  throw new UsageError(`${id} of "${mission}" is ${status}: only a change that is held can be approved`);
}

function noTask(id: string, mission: string, { tasks }: MissionTally): string {
  const ids = tasks.map((task) => task.id);
  const meant = nearest(id, ids);
  if (meant !== undefined) return `No task "${id}" in "${mission}"; did you mean "${meant}"?`;
  const more = ids.length > MAX_LISTED ? `, and ${ids.length - MAX_LISTED} more` : '';
  return `No task "${id}" in "${mission}"; its tasks are ${ids.slice(0, MAX_LISTED).join(', ')}${more}`;
}
