import type { Reporter } from './decide/report.ts';
import { subTaskIn, type SwarmRecord, withSession, withSubTask } from './swarm-record.ts';
import type { Assignment, AssignmentEnd, LateReport, SwarmFault, SwarmSubTask } from './swarm-session.ts';

/** The sub-task is the agent's from now on, under the next epoch. */
export function assigned(
  record: SwarmRecord,
  subTaskId: string,
  agentId: string,
  nowMs: number,
): SwarmRecord {
  const subTask = known(record, subTaskId);
  const epoch = subTask.epoch + 1;
  const assignments = [...subTask.assignments, { epoch, agentId, startedAtMs: nowMs }];
  const changes = { status: 'running', assignedAgent: agentId, epoch, assignments } as const;
  return heard(withSubTask(record, subTaskId, changes), subTaskId, nowMs);
}

/** The agent that has the sub-task has given a sign of life. */
export const heard = (record: SwarmRecord, subTaskId: string, nowMs: number): SwarmRecord => ({
  ...record,
  heardAtMs: { ...record.heardAtMs, [subTaskId]: nowMs },
});

/** The assignment went out in this envelope. */
export function sentIn(
  record: SwarmRecord,
  subTaskId: string,
  epoch: number,
  envelopeId: string,
  nowMs: number,
): SwarmRecord {
  const { assignments, epoch: latest } = known(record, subTaskId);
  const named = assignments.map((one) => (one.epoch === epoch ? { ...one, envelopeId } : one));
  const next = withSubTask(record, subTaskId, { assignments: named });
  return epoch === latest ? heard(next, subTaskId, nowMs) : next;
}

/** The agent has kept a partial result. */
export const checkpointed = (
  record: SwarmRecord,
  subTaskId: string,
  { agentId, epoch }: Reporter,
  value: unknown,
  nowMs: number,
): SwarmRecord =>
  heard(
    withSubTask(record, subTaskId, { partial: { agentId, epoch, value, atMs: nowMs } }),
    subTaskId,
    nowMs,
  );

/** The sub-task is done: its result is there, and in the shared state. */
export function completed(
  record: SwarmRecord,
  subTaskId: string,
  result: unknown,
  nowMs: number,
): SwarmRecord {
  const { sharedState, stateVersion } = record.session;
  const subTask = known(record, subTaskId);
  const assignments = ended(subTask, { end: 'completed' }, nowMs);
  return withSession(withSubTask(record, subTaskId, { status: 'completed', result, assignments }), {
    sharedState: { ...sharedState, [subTaskId]: result },
    stateVersion: stateVersion + 1,
  });
}

/** The assignment is over without a result, and the sub-task waits for another agent. */
export function takenBack(
  record: SwarmRecord,
  subTaskId: string,
  how: { readonly end: AssignmentEnd; readonly error?: SwarmFault },
  nowMs: number,
): SwarmRecord {
  const assignments = ended(known(record, subTaskId), how, nowMs);
  return withSubTask(record, subTaskId, { status: 'pending', assignedAgent: '', assignments });
}

/** Nobody is going to do the sub-task any more. */
export const givenUp = (record: SwarmRecord, subTaskId: string, error: SwarmFault): SwarmRecord =>
  withSubTask(record, subTaskId, { status: 'failed', error });

/** How many late reports of one sub-task are kept: the newest. */
const LATES_KEPT = 100;

/** A report that does not count is kept. */
export const reportedLate = (record: SwarmRecord, subTaskId: string, late: LateReport): SwarmRecord =>
  withSubTask(record, subTaskId, { lates: [...known(record, subTaskId).lates, late].slice(-LATES_KEPT) });

/** Ends what is running and fails what is not completed, because the swarm is over. */
export function stopped(record: SwarmRecord, error: SwarmFault, nowMs: number): SwarmRecord {
  let next = record;
  for (const { id, status } of record.session.subTasks) {
    if (status === 'running') next = takenBack(next, id, { end: 'cancelled' }, nowMs);
    if (status === 'running' || status === 'pending') next = givenUp(next, id, error);
  }
  return next;
}

function ended(
  { assignments, epoch }: SwarmSubTask,
  { end, error }: { readonly end: AssignmentEnd; readonly error?: SwarmFault },
  nowMs: number,
): Assignment[] {
  const why = error === undefined ? {} : { error };
  return assignments.map((one) => (one.epoch === epoch ? { ...one, end, endedAtMs: nowMs, ...why } : one));
}

function known(record: SwarmRecord, subTaskId: string): SwarmSubTask {
  const subTask = subTaskIn(record, subTaskId);
  if (subTask === undefined) throw new Error(`swarm ${record.session.id} has no sub-task "${subTaskId}"`);
  return subTask;
}
