import type { SwarmSession } from 'orrery/swarm';
import { lostFault } from './lost-answer.ts';
import type { RunScope } from './run-scope.ts';
import type { SwarmPart } from './swarm-part.ts';
import type { TaskEvent } from './task-context.ts';
import { taskAnswer } from './task-answer.ts';

type SubTask = SwarmSession['subTasks'][number];

/**
 * Follows the sub-task `itemId` of a swarm until it is over or `signal` aborts. It calls `tell` with each change of its
 * agent, and at last with its result or failure.
 */
export function awaitSwarm(
  run: RunScope,
  { swarmId, itemId }: { readonly swarmId: string; readonly itemId: string },
  { tell, signal }: { readonly tell: (event: TaskEvent) => void; readonly signal: AbortSignal },
): void {
  const { swarms } = run.team.loop;
  let seen = '';
  const look = async (session: SwarmSession): Promise<void> => {
    const subTask = session.subTasks.find(({ id }) => id === itemId);
    if (session.id !== swarmId || subTask === undefined) return;
    const now = `${subTask.status} ${subTask.epoch} ${subTask.assignments.length} ${subTask.lates.length}`;
    if (now === seen || signal.aborted) return;
    seen = now;
    const { status } = subTask;
    const isOver = status === 'completed' || status === 'failed';
    if (isOver) stop();
    const assignee = await assigneeOf(run, subTask);
    if (signal.aborted) return;
    tell({ type: 'swarm.moved', part: partOf(session, subTask), assignee });
    if (isOver && subTask.taint !== undefined) tell({ type: 'work.tainted', taint: subTask.taint });
    if (isOver) tell(endOf(run, subTask));
  };
  const unsubscribe = swarms.onChange((session) => void look(session));
  const stop = (): void => {
    unsubscribe();
    signal.removeEventListener('abort', stop);
  };
  signal.addEventListener('abort', stop, { once: true });
  const session = swarms.getSwarm(swarmId);
  if (session !== undefined) void look(session);
}

async function assigneeOf({ team }: RunScope, { assignments }: SubTask) {
  const agent = assignments.at(-1)?.agentId;
  if (agent === undefined) return undefined;
  const roster = await team.roster();
  return { agent, place: roster.find(({ id }) => id === agent)?.place ?? 'unknown' };
}

const partOf = ({ id }: SwarmSession, { assignments, lates }: SubTask): SwarmPart => ({
  id,
  assignments: assignments.map(({ agentId, epoch, startedAtMs, endedAtMs, envelopeId, end, error }) => ({
    agent: agentId,
    epoch,
    startedAtMs,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(envelopeId === undefined ? {} : { envelopeId }),
    ...(end === undefined ? {} : { end }),
    ...(error === undefined ? {} : { error: `${error.code}: ${error.message}` }),
  })),
  lates: lates.length,
});

function endOf({ clock }: RunScope, { status, result, error }: SubTask): TaskEvent {
  const atMs = clock.now();
  if (status === 'completed') return taskAnswer(result, atMs);
  return { type: 'agent.lost', answer: lostFault(error ?? NO_REASON), atMs };
}

const NO_REASON = { code: 'REFUSED', message: 'the swarm gave no reason' } as const;
