import { type LoopEvent, StopReason, TaskStatus } from '@orrery/ralph-loop';
import type { CodingEvent } from 'orrery/coding';
import { z } from 'zod';

const MAX_TEXT = 300;

const Text = z.string().max(MAX_TEXT);
const Usd = z.number().nonnegative();

/**
 * How a task is. Texts are cut.
 *
 * - `agent`   that has or had it.
 * - `doing`   what its coding agent does, or how far its agent is.
 * - `file`    the last file that its coding agent has named.
 * - `gate`    the last gate, and how it ended.
 * - `costUsd` of all attempts, `attemptUsd` of the current one; as far as its agents say it.
 */
export const TaskTally = z.strictObject({
  id: z.string(),
  title: Text,
  status: TaskStatus,
  attempt: z.int().nonnegative(),
  why: Text,
  agent: Text.optional(),
  doing: Text.optional(),
  file: Text.optional(),
  gate: Text.optional(),
  costUsd: Usd,
  attemptUsd: Usd,
});
export type TaskTally = z.infer<typeof TaskTally>;

/**
 * How a mission is that runs.
 *
 * - `why`        it goes on.
 * - `pausedBy`   whose wish it is that nothing is begun; absent if it is not paused.
 * - `stopReason` once it is over.
 */
export const MissionTally = z.strictObject({
  tasks: z.array(TaskTally),
  why: Text,
  pausedBy: Text.optional(),
  stopReason: StopReason.optional(),
});
export type MissionTally = z.infer<typeof MissionTally>;

/** Before anything has happened. */
export const NO_TALLY: MissionTally = { tasks: [], why: 'it begins' };

/** How the mission is after an event. */
export function tallied(tally: MissionTally, event: LoopEvent): MissionTally {
  switch (event.type) {
    case 'mission.started':
      return { ...tally, tasks: event.tasks.map(({ id, title }) => newTask(id, title)) };
    case 'task.changed':
      return withTask(tally, event.task, (task) => changed(task, event));
    case 'task.progress':
      return withTask(tally, event.task, (task) => ({ ...task, doing: progressOf(event) }));
    case 'task.coding':
      return withTask(tally, event.task, (task) => ({ ...task, ...coding(task, event.event) }));
    case 'task.gate':
      return withTask(tally, event.task, (task) => ({ ...task, gate: cut(gateOf(event.event)) }));
    case 'mission.paused':
      return { ...tally, pausedBy: cut(event.by) };
    case 'mission.resumed': {
      const { pausedBy: _was, ...rest } = tally;
      return rest;
    }
    case 'loop.goes-on':
      return { ...tally, why: cut(event.why) };
    case 'mission.ended':
      return { ...tally, stopReason: event.stopReason };
    default:
      return tally;
  }
}

/** What a mission has cost, United States dollars, as far as its agents say it. */
export const costOf = ({ tasks }: MissionTally): number =>
  tasks.reduce((sum, { costUsd }) => sum + costUsd, 0);

const newTask = (id: string, title: string): TaskTally => ({
  id,
  title: cut(title),
  status: 'waiting',
  attempt: 1,
  why: '',
  costUsd: 0,
  attemptUsd: 0,
});

const withTask = (tally: MissionTally, id: string, change: (task: TaskTally) => TaskTally): MissionTally => ({
  ...tally,
  tasks: tally.tasks.map((task) => (task.id === id ? change(task) : task)),
});

type EventOf<Type extends LoopEvent['type']> = Extract<LoopEvent, { readonly type: Type }>;

/** What an agent says of its attempt begins anew with each of them, also after a rest, which is no attempt. */
function changed(
  { doing: _doing, file, ...task }: TaskTally,
  { status, attempt, agent, why }: EventOf<'task.changed'>,
): TaskTally {
  return {
    ...task,
    ...(file === undefined ? {} : { file }),
    status,
    attempt,
    why: cut(why),
    ...(agent === undefined ? {} : { agent: cut(agent) }),
    attemptUsd: status === 'working' ? 0 : task.attemptUsd,
  };
}

const progressOf = ({ fraction, note }: EventOf<'task.progress'>): string =>
  cut(note ?? `${Math.round(fraction * 100)} %`);

function coding(task: TaskTally, event: CodingEvent): Partial<TaskTally> {
  switch (event.type) {
    case 'tool.started': {
      const file = event.paths.at(-1);
      return { doing: cut(event.title), ...(file === undefined ? {} : { file: cut(file) }) };
    }
    case 'rate.limited':
      return { doing: cut(`it has to wait: ${event.reason}`) };
    case 'usage': {
      const { costUsd: usd = task.attemptUsd } = event.usage;
      return { attemptUsd: usd, costUsd: Math.max(0, task.costUsd - task.attemptUsd) + usd };
    }
    default:
      return {};
  }
}

const gateOf = (event: EventOf<'task.gate'>['event']): string =>
  event.type === 'gate.started'
    ? `${event.gate} runs`
    : `${event.receipt.gate} ${event.receipt.passed ? 'has passed' : 'has failed'}`;

const cut = (text: string): string => text.slice(0, MAX_TEXT);
