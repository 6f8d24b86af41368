import type { LoopEvent, TaskStatus } from '@orrery/ralph-loop';
import { advanceHands, emptyHands, type Hands } from './hand.ts';
import { limitText } from './mission-news.ts';

/** Something that an agent does, and for which tasks. It is over when any of these tasks changes. */
export interface Doing {
  readonly tasks: readonly string[];
  readonly what: string;
  readonly fraction?: number;
  readonly note?: string | undefined;
}

/**
 * The state of a running mission. The latest thing that an agent does comes last.
 *
 * - `hands` the tasks in hand that change the repository.
 * - `near`  the limit that was last said to be near.
 */
export interface Board {
  readonly mission: string;
  readonly startedAtMs: number;
  readonly assigner: string;
  readonly gate: string;
  readonly agents: ReadonlyMap<string, readonly Doing[]>;
  readonly statuses: ReadonlyMap<string, TaskStatus>;
  readonly why: string;
  readonly hands: Hands;
  readonly near: string | undefined;
}

/** The board before a mission, with a line for each agent. `changes`: ids of the tasks that are to change the repository. */
export const emptyBoard = (agents: readonly string[], changes: Iterable<string> = []): Board => ({
  mission: '',
  startedAtMs: 0,
  assigner: '',
  gate: '',
  agents: new Map(agents.map((id) => [id, []])),
  statuses: new Map(),
  why: '',
  hands: emptyHands(changes),
  near: undefined,
});

/** Returns the board after an event. */
export const advance = (board: Board, event: LoopEvent): Board => ({
  ...advanced(board, event),
  hands: advanceHands(board.hands, event),
});

function advanced(board: Board, event: LoopEvent): Board {
  switch (event.type) {
    case 'mission.started': {
      const { mission, assigner, gate, tasks, atMs } = event;
      const statuses = new Map(tasks.map(({ id }) => [id, 'waiting' as const]));
      return { ...board, mission, assigner, gate, statuses, startedAtMs: atMs };
    }
    case 'assignment.asked':
      return busy(board, event.agent, { tasks: event.tasks, what: `assigns ${event.tasks.join(', ')}` });
    case 'task.progress': {
      const { task, agent, fraction, note } = event;
      return busy(board, agent, { tasks: [task], what: `works on ${task}`, fraction, note });
    }
    case 'task.changed':
      return changed(board, event);
    case 'progress.lost':
      return { ...board, why: `that ${event.task} is accepted could not be kept: ${event.why}` };
    case 'task.coding':
    case 'task.gate':
    case 'tasks.overlap':
      return board;
    case 'mission.paused':
      return { ...board, why: `it is paused by ${event.by}` };
    case 'mission.resumed':
      return { ...board, why: `${event.by} wishes it` };
    case 'limit.near':
      return { ...board, near: limitText(event) };
    case 'loop.goes-on':
      return { ...board, why: event.why };
    case 'mission.ended':
      return { ...board, why: event.stopReason };
  }
}

type Changed = Extract<LoopEvent, { type: 'task.changed' }>;

/** Moves a task from the agent that had it to the agent or gate that has it now. */
function changed(board: Board, { task, status, agent, attempt }: Changed): Board {
  const agents = new Map(
    [...board.agents].map(([id, doing]) => [id, doing.filter(({ tasks }) => !tasks.includes(task))]),
  );
  const next = { ...board, agents, statuses: new Map(board.statuses).set(task, status) };
  const again = attempt > 1 ? ` (attempt ${attempt})` : '';
  if (status === 'proposed' && agent !== undefined)
    return busy(next, agent, { tasks: [task], what: `is asked to take ${task} on` });
  if (status === 'recovering')
    return busy(next, board.assigner, { tasks: [task], what: `decides about ${task}` });
  if (status === 'working' && agent !== undefined)
    return busy(next, agent, { tasks: [task], what: `works on ${task}${again}` });
  if (status === 'judging') return busy(next, board.gate, { tasks: [task], what: `judges ${task}` });
  return next;
}

function busy(board: Board, agent: string, doing: Doing): Board {
  const others = (board.agents.get(agent) ?? []).filter(({ tasks }) => tasks[0] !== doing.tasks[0]);
  return { ...board, agents: new Map(board.agents).set(agent, [...others, doing]) };
}
