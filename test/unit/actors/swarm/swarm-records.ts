import { SwarmLimits } from '../../../../actors/swarm/swarm-options.ts';
import { type SubTaskPlan, subTasksOf } from '../../../../actors/swarm/swarm-plan.ts';
import {
  type Standing,
  type SwarmRecord,
  withMember,
  withSubTask,
} from '../../../../actors/swarm/swarm-record.ts';
import type { SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import type { SwarmCard } from '../../../../actors/swarm/decide/capable.ts';

/** A plan of one sub-task for each list of capabilities, named by letters. */
export const planOf = (...capabilities: (string | string[])[]): SubTaskPlan[] =>
  capabilities.map((required, at) => ({
    id: String.fromCharCode(97 + at),
    requiredCapabilities: typeof required === 'string' ? [required] : required,
  }));

/** An active swarm with this plan. */
export const recordOf = (plan: readonly SubTaskPlan[], limits: Partial<SwarmLimits> = {}): SwarmRecord => ({
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
