import type { Taint } from '../../runtime/protocol/taint.ts';
import type { SwarmRecord } from './swarm-record.ts';
import {
  type Assignment,
  type LateReport,
  type PartialResult,
  type SubTaskStatus,
  type SwarmFault,
  type SwarmStatus,
  type SwarmSubTask,
  taintOfSession,
} from './swarm-session.ts';

/**
 * What became of one sub-task.
 *
 * - `agentId`     who has done it, or had it last; undefined if nobody ever had it.
 * - `assignments` every attempt: who, when, in which envelope, and how it ended.
 * - `envelopeIds` of the requests that handed it out, as far as they are known.
 * - `partial`     the last checkpoint of a sub-task that was not completed.
 * - `lates`       what came too late to count, until the outcome was made.
 */
export interface SubTaskOutcome {
  readonly id: string;
  readonly description: string;
  readonly requiredCapabilities: readonly string[];
  readonly status: SubTaskStatus;
  readonly agentId: string | undefined;
  readonly assignments: readonly Assignment[];
  readonly envelopeIds: readonly string[];
  readonly lates: readonly LateReport[];
  readonly result?: unknown;
  readonly partial?: PartialResult;
  readonly error?: SwarmFault;
}

/**
 * How a swarm ended: what its owner gets.
 *
 * - `isEscalated` it failed, and it is for the owner to decide what is next: there is all that was found, and who failed
 *                 with what.
 * - `results`     of the completed sub-tasks, by their ids.
 * - `taint`       where it came from outside.
 */
export interface SwarmOutcome {
  readonly swarmId: string;
  readonly correlationId: string;
  readonly ownerId: string;
  readonly taskDescription: string;
  readonly status: Extract<SwarmStatus, 'completed' | 'failed'>;
  readonly isEscalated: boolean;
  readonly results: Readonly<Record<string, unknown>>;
  readonly sharedState: Readonly<Record<string, unknown>>;
  readonly participants: readonly string[];
  readonly subTasks: readonly SubTaskOutcome[];
  readonly error?: SwarmFault;
  readonly createdAtMs: number;
  readonly endedAtMs: number;
  readonly taint?: Taint;
}

/** The outcome of a swarm that is over. */
export function outcomeOf({ session }: SwarmRecord): SwarmOutcome {
  const { status, error, createdAt } = session;
  const taint = taintOfSession(session);
  return {
    swarmId: session.id,
    correlationId: session.correlationId,
    ownerId: session.ownerId,
    taskDescription: session.taskDescription,
    status: status === 'completed' ? 'completed' : 'failed',
    isEscalated: status === 'failed',
    results: aggregate(session.subTasks),
    sharedState: session.sharedState,
    participants: session.participants,
    subTasks: session.subTasks.map(subTaskOutcomeOf),
    createdAtMs: createdAt,
    endedAtMs: session.endedAt ?? createdAt,
    ...(error === undefined ? {} : { error }),
    ...(taint === undefined ? {} : { taint }),
  };
}

function subTaskOutcomeOf(subTask: SwarmSubTask): SubTaskOutcome {
  const { id, description, requiredCapabilities, status, assignments, lates, result, partial, error } =
    subTask;
  const isDone = status === 'completed';
  return {
    id,
    description,
    requiredCapabilities,
    status,
    agentId: assignments.at(-1)?.agentId,
    assignments,
    envelopeIds: assignments.flatMap(({ envelopeId }) => (envelopeId === undefined ? [] : [envelopeId])),
    lates,
    ...(isDone ? { result } : {}),
    ...(isDone || partial === undefined ? {} : { partial }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Where the sub-tasks of an active swarm stand together: undefined while there is something to be done. */
export function decideEnding(
  subTasks: readonly SwarmSubTask[],
  onFailure: 'finish' | 'stop',
): 'completed' | 'failed' | undefined {
  const hasFailed = subTasks.some(({ status }) => status === 'failed');
  if (hasFailed && onFailure === 'stop') return 'failed';
  if (!subTasks.every(({ status }) => status === 'completed' || status === 'failed')) return undefined;
  return hasFailed ? 'failed' : 'completed';
}

/** The results of the completed sub-tasks by their ids. */
export const aggregate = (subTasks: readonly SwarmSubTask[]): Record<string, unknown> =>
  Object.fromEntries(
    subTasks.filter(({ status }) => status === 'completed').map(({ id, result }) => [id, result]),
  );

/** Why a swarm failed: the faults of its sub-tasks in one sentence, with the code of the first. */
export function aggregateFaults(subTasks: readonly SwarmSubTask[]): SwarmFault | undefined {
  const faults = subTasks.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const [first] = faults;
  if (first === undefined) return undefined;
  const others = faults.length === 1 ? '' : `; and ${faults.length - 1} more`;
  return { code: first.code, message: `${first.message}${others}` };
}
