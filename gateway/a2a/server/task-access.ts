import { agentNotFound } from '../../../runtime/protocol/errors.ts';
import type { Task } from '../../../runtime/protocol/task.ts';
import type { TaskOwner, TaskService, ViewOptions } from '../../../runtime/protocol/task-service.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import { taskOwnerOf } from '../../team/task-owner.ts';
import { fault } from '../wire/faults.ts';
import type { Caller } from './caller.ts';

export interface TaskAccessDeps {
  readonly tasks: TaskService;
  readonly team: ServedTeam;
}

/** A task without what may be long in it. */
export const BARE: ViewOptions = { historyLength: 0, artifacts: false };

export const ownerOf = ({ principal }: Caller): TaskOwner => taskOwnerOf(principal);

/** The task, if it is the owner's and the agent's that the caller names. Throws TASK_NOT_FOUND, AGENT_NOT_FOUND. */
export function taskFor(
  { tasks, team }: TaskAccessDeps,
  owner: TaskOwner,
  taskId: string,
  { agentId }: Caller,
  view: ViewOptions = BARE,
): Task {
  requireAgent(team, agentId);
  const task = tasks.get(owner, taskId, view);
  if (agentId !== undefined && tasks.agentOf(owner, taskId) !== agentId)
    throw fault('TASK_NOT_FOUND', `There is no task "${taskId}"`, { taskId });
  return task;
}

export function requireAgent(team: ServedTeam, agentId: string | undefined): void {
  if (agentId !== undefined && team.card(agentId) === undefined) throw agentNotFound(agentId);
}
