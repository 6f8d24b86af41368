import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { SwarmOutcome } from './swarm-outcome.ts';
import type { SubTaskPlan, SwarmPlanner } from './swarm-plan.ts';
import type { SwarmLimits } from './swarm-record.ts';
import type { SwarmSession } from './swarm-session.ts';

/**
 * How a swarm is made; with the limits of `SwarmLimits`.
 *
 * - `plan`          its sub-tasks, or what makes them of the task. @default one sub-task a required capability
 * - `input`         what agents are asked with, where the plan says nothing. @default { taskDescription }
 * - `sharedState`   what the shared state holds at first. @default {}
 * - `correlationId` the conversation of all envelopes. @default the swarm's id
 * - `estimatedComplexity` of the proposals. @default 'medium'
 * - `escalationJustification` why an owner of tier 2 or 3 writes to tier 0 or 1.
 * - `taint`         where what it is given came from outside, beside what is known of that: only ever adds.
 * - `signal`        cancels the swarm.
 */
export interface CreateSwarmOptions extends Partial<SwarmLimits> {
  readonly plan?: readonly SubTaskPlan[] | SwarmPlanner;
  readonly input?: unknown;
  readonly sharedState?: Readonly<Record<string, unknown>>;
  readonly correlationId?: string;
  readonly estimatedComplexity?: 'simple' | 'medium' | 'complex';
  readonly escalationJustification?: string;
  readonly taint?: Taint;
  readonly signal?: AbortSignal;
}

/** `epoch`: which assignment is meant. @default the agent's latest of this sub-task */
export interface ReportOptions {
  readonly epoch?: number;
}

/**
 * Swarms as one agent sees them (seed 1): those that it owns, and those that it takes part in.
 *
 * The seed's six methods, and: leaving, cancelling, the shared state, the outcome, and hearing of changes.
 */
export interface Swarms {
  /**
   * Proposes a task to every permitted agent that has the capabilities for a part of it. Resolves when the proposals are
   * on their way; how it ends is in `outcome`. Rejects with INVALID_OPTIONS naming field and value, and with what a
   * planner throws.
   */
  createSwarm(
    taskDescription: string,
    requiredCapabilities: readonly string[],
    options?: CreateSwarmOptions,
  ): Promise<SwarmSession>;

  /**
   * Joins a swarm that is not over. An agent joins itself; the owner may bring in any agent that it may write to. Rejects
   * with REFUSED when there is no sub-task for it now; it is then thought of when somebody is to be replaced.
   */
  joinSwarm(swarmId: string, agentId: string): Promise<void>;

  /** Leaves a swarm: what the agent has is given to others. An agent leaves itself; the owner may dismiss anybody. */
  leaveSwarm(swarmId: string, agentId: string, reason?: string): Promise<void>;

  /**
   * Reports the result of a sub-task that is assigned to this agent. Rejects with REFUSED when it never was, and with TAKEN
   * when it is not any more: then the result is kept as a late one and changes nothing.
   */
  completeSubTask(
    swarmId: string,
    subTaskId: string,
    result: unknown,
    options?: ReportOptions,
  ): Promise<void>;

  /** Gives up a sub-task that is assigned to this agent; another one gets it. Rejects as `completeSubTask` does. */
  failSubTask(swarmId: string, subTaskId: string, error: string, options?: ReportOptions): Promise<void>;

  /** Ends a swarm of this agent: what it has so far is in the outcome. Rejects with REFUSED when it is not its owner. */
  cancelSwarm(swarmId: string, reason?: string): Promise<void>;

  /**
   * The swarm as it is now, if this agent owns it. One that it takes part in is shown as the coordinator last showed it:
   * `readSwarm` asks again.
   */
  getSwarm(swarmId: string): SwarmSession | undefined;

  /** The swarms of `getSwarm` that are not over, oldest first. */
  listActiveSwarms(): SwarmSession[];

  /**
   * The swarms that this agent owns, oldest first, with those that are over and still remembered. A durable owner has those
   * of former processes too, and `outcome` says how they end.
   */
  listSwarms(): SwarmSession[];

  /** Asks for the swarm with its shared state. Rejects with REFUSED unless this agent owns it or takes part in it. */
  readSwarm(swarmId: string): Promise<SwarmSession>;

  /**
   * Resolves when the swarm of this agent is over, however it ended. Rejects with REFUSED when it is not its owner; and with
   * SYSTEM_STOPPED when its owner is durable and the system stops: it goes on in the next process.
   */
  outcome(swarmId: string): Promise<SwarmOutcome>;

  /** Calls `listener` with every change of a swarm of this agent, until the returned function is called. */
  onChange(listener: (session: SwarmSession) => void): () => void;
}

/** A swarm's id says who coordinates it, so that whoever knows the id can write to its coordinator. */
export const swarmIdOf = (ownerId: string, newId: string): string => `${newId}@${ownerId}`;

/** The owner of the swarm; undefined for what is no swarm's id. */
export function ownerOf(swarmId: string): string | undefined {
  const at = swarmId.indexOf('@');
  return at < 0 ? undefined : swarmId.slice(at + 1);
}

const refusal = (message: string, details: Readonly<Record<string, unknown>>): OrreryError =>
  new OrreryError('REFUSED', message, { details });

export const noSuchSwarm = (swarmId: string): OrreryError =>
  refusal(`There is no swarm "${swarmId}"`, { swarmId });

export const swarmOver = ({ id, status }: SwarmSession): OrreryError =>
  refusal(`The swarm ${id} takes nobody in any more: it is ${status}`, { swarmId: id, status });

export const nothingToDo = ({ id }: SwarmSession, agentId: string, why: string): OrreryError =>
  refusal(`The swarm ${id} has nothing to do for ${agentId}, which ${why}`, { swarmId: id, agentId });

export const notInSwarm = ({ id }: SwarmSession, agentId: string, subTaskId?: string): OrreryError => {
  const what = subTaskId === undefined ? 'takes no part in it' : `never had its sub-task "${subTaskId}"`;
  return refusal(`${agentId} has no say in the swarm ${id}: it ${what}`, { swarmId: id, agentId, subTaskId });
};

/** For a report that is late: it is kept, and does not count. */
export const noLongerYours = ({ id }: SwarmSession, subTaskId: string, epoch: number): OrreryError =>
  new OrreryError(
    'TAKEN',
    `Assignment ${epoch} of "${subTaskId}" in the swarm ${id} does not stand any more`,
    {
      details: { swarmId: id, subTaskId, epoch },
    },
  );

export const notYours = (swarmId: string, callerId: string, agentId?: string): OrreryError =>
  refusal(
    agentId === undefined
      ? `${callerId} does not own the swarm ${swarmId}`
      : `${callerId} cannot act for ${agentId} in the swarm ${swarmId}, which it does not own`,
    { swarmId, callerId, agentId },
  );
