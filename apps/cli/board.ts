import type { LoopEvent, TaskStatus } from '@orrery/ralph-loop';

/**
 * One thing that an agent has in hand, and for which tasks; it has no longer when any of them stands
 * elsewhere.
 */
export interface Doing {
  readonly tasks: readonly string[];
  readonly what: string;
  readonly fraction?: number;
  readonly note?: string | undefined;
}

/**
 * What is to be seen of a running mission at one moment; of what an agent has in hand, the latest news last.
 */
export interface Board {
  readonly mission: string;
  readonly startedAtMs: number;
  readonly assigner: string;
  readonly gate: string;
  readonly agents: ReadonlyMap<string, readonly Doing[]>;
  readonly statuses: ReadonlyMap<string, TaskStatus>;
  readonly why: string;
}

/** The board before anything happened, with a line for everybody in the team. */
export const emptyBoard = (agents: readonly string[]): Board => ({
  mission: '',
  startedAtMs: 0,
  assigner: '',
  gate: '',
  agents: new Map(agents.map((id) => [id, []])),
  statuses: new Map(),
  why: '',
});

/** The board after `event`. */
export function advance(board: Board, event: LoopEvent): Board {
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
    case 'loop.goes-on':
      return { ...board, why: event.why };
    case 'mission.ended':
      return { ...board, why: event.stopReason };
  }
}

type Changed = Extract<LoopEvent, { type: 'task.changed' }>;

/** Whoever had the task is free again; the agent or the gate that has it now is busy. */
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
