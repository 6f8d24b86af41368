import { type SubTaskPlan, subTasksOf } from '../../../../actors/swarm/swarm-plan.ts';
import {
  endAssignment,
  type Standing,
  subTaskIn,
  SwarmLimits,
  type SwarmRecord,
  withMember,
  withSession,
  withSubTask,
} from '../../../../actors/swarm/swarm-record.ts';
import type { AssignmentEnd, SwarmFault, SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import type { SwarmCard } from '../../../../actors/swarm/swarm-decisions.ts';

/** A plan of one sub-task for each list of capabilities, named by letters. */
export const planOf = (...capabilities: (string | string[])[]): SubTaskPlan[] =>
  capabilities.map((required, at) => ({
    id: String.fromCharCode(97 + at),
    requiredCapabilities: typeof required === 'string' ? [required] : required,
  }));

/** An active swarm with this plan. */
export const recordOf = (plan: readonly SubTaskPlan[], limits: Partial<SwarmLimits> = {}): SwarmRecord => ({
  version: 1,
  session: {
    id: '1@owner',
    taskDescription: 'the task',
    participants: [],
    subTasks: subTasksOf(plan, { taskDescription: 'the task', input: {} }),
    status: 'active',
    sharedState: {},
    createdAt: 1_000,
    ownerId: 'owner',
    correlationId: '1@owner',
    stateVersion: 0,
  },
  limits: SwarmLimits.parse(limits),
  complexity: 'medium',
  team: [],
  heardAtMs: {},
});

/** The record with these agents in this standing. */
export const withTeam = (record: SwarmRecord, standing: Standing, ...agentIds: string[]): SwarmRecord =>
  agentIds.reduce((so, agentId) => withMember(so, agentId, { standing, invitations: 1 }), record);

/** The record with a sub-task changed. */
export const but = (record: SwarmRecord, subTaskId: string, changes: Partial<SwarmSubTask>): SwarmRecord =>
  withSubTask(record, subTaskId, changes);

export const cardsOf = (cards: Record<string, readonly string[]>): SwarmCard[] =>
  Object.entries(cards).map(([id, capabilities]) => ({ id, capabilities: new Set(capabilities) }));

/** Pictures that a coordinator may have of a sub-task, and such as it never may. */
export function assigned(record: SwarmRecord, subTaskId: string, agentId: string, atMs: number): SwarmRecord {
  const { assignments } = known(record, subTaskId);
  const epoch = assignments.length + 1;
  return withSubTask(record, subTaskId, {
    status: 'running',
    assignedAgent: agentId,
    epoch,
    assignments: [...assignments, { epoch, agentId, startedAtMs: atMs }],
  });
}

export function sentIn(
  record: SwarmRecord,
  subTaskId: string,
  { epoch, envelopeId }: { readonly epoch: number; readonly envelopeId: string },
): SwarmRecord {
  const assignments = known(record, subTaskId).assignments.map((one) =>
    one.epoch === epoch ? { ...one, envelopeId } : one,
  );
  return withSubTask(record, subTaskId, { assignments });
}

export function completed(
  record: SwarmRecord,
  subTaskId: string,
  result: unknown,
  atMs: number,
): SwarmRecord {
  const assignments = endAssignment(known(record, subTaskId), { end: 'completed' }, atMs);
  const { sharedState } = record.session;
  return withSession(withSubTask(record, subTaskId, { status: 'completed', result, assignments }), {
    sharedState: { ...sharedState, [subTaskId]: result },
  });
}

export function takenBack(
  record: SwarmRecord,
  subTaskId: string,
  how: { readonly end: AssignmentEnd; readonly error?: SwarmFault },
  atMs: number,
): SwarmRecord {
  const assignments = endAssignment(known(record, subTaskId), how, atMs);
  return withSubTask(record, subTaskId, { status: 'pending', assignedAgent: '', assignments });
}

export const givenUp = (record: SwarmRecord, subTaskId: string, error: SwarmFault): SwarmRecord =>
  withSubTask(record, subTaskId, { status: 'failed', error });

const known = (record: SwarmRecord, subTaskId: string): SwarmSubTask =>
  subTaskIn(record, subTaskId) as SwarmSubTask;
