import { z } from 'zod';
import { ERROR_CODES } from '../../runtime/protocol/errors.ts';
import { mergeTaint, Taint } from '../../runtime/protocol/taint.ts';

/** Where a swarm stands (seed 1). */
export const SwarmStatus = z.enum(['recruiting', 'active', 'completing', 'completed', 'failed']);
export type SwarmStatus = z.infer<typeof SwarmStatus>;

/** Says whether the swarm is at an end. */
export const isOver = (status: SwarmStatus): boolean => status === 'completed' || status === 'failed';

/** Says whether agents may join, and sub-tasks be worked on. */
export const isAtWork = (status: SwarmStatus): boolean => status === 'recruiting' || status === 'active';

export const SubTaskStatus = z.enum(['pending', 'running', 'completed', 'failed']);
export type SubTaskStatus = z.infer<typeof SubTaskStatus>;

/** Why something went wrong, as plain data. */
export const SwarmFault = z.object({ code: z.enum(ERROR_CODES), message: z.string() });
export type SwarmFault = z.infer<typeof SwarmFault>;

/**
 * How an assignment ended.
 *
 * - `completed` its result was applied.
 * - `failed`    the agent answered with an error, or died over it.
 * - `stalled`   neither progress nor checkpoint nor result came within the lease.
 * - `lost`      it did not reach the agent, or its fate is unknown: nothing says that the agent is at fault.
 * - `left`      the agent left the swarm.
 * - `cancelled` the swarm was over.
 */
export const AssignmentEnd = z.enum(['completed', 'failed', 'stalled', 'lost', 'left', 'cancelled']);
export type AssignmentEnd = z.infer<typeof AssignmentEnd>;

/**
 * One assignment of a sub-task to an agent. Times are Unix milliseconds.
 *
 * - `epoch`      counts the assignments of the sub-task, from 1: a report under another one is late.
 * - `envelopeId` of the request that handed it over, as far as it is known.
 * - `end`        absent while the agent has it.
 */
export const Assignment = z.object({
  epoch: z.int().positive(),
  agentId: z.string(),
  startedAtMs: z.number(),
  envelopeId: z.string().optional(),
  endedAtMs: z.number().optional(),
  end: AssignmentEnd.optional(),
  error: SwarmFault.optional(),
});
export type Assignment = z.infer<typeof Assignment>;

/** What an agent had when its assignment was taken away, or has so far: its last checkpoint. */
export const PartialResult = z.object({
  agentId: z.string(),
  epoch: z.int().positive(),
  value: z.unknown(),
  atMs: z.number(),
});
export type PartialResult = z.infer<typeof PartialResult>;

/** A report that came too late to count, or twice: it is kept, and changes nothing. */
export const LateReport = z.object({
  agentId: z.string(),
  epoch: z.int().nonnegative(),
  kind: z.enum(['result', 'error']),
  value: z.unknown(),
  atMs: z.number(),
});
export type LateReport = z.infer<typeof LateReport>;

/**
 * A part of a swarm's task (seed 1), and what became of it.
 *
 * - `assignedAgent` '' while nobody has it.
 * - `capability`    which handler of the agent is asked; one of `requiredCapabilities`.
 * - `input`         what it is asked with.
 * - `dependsOn`     sub-tasks that have to be completed before.
 * - `inputFrom`     fields of the input that are the results of other sub-tasks, by their ids.
 * - `resumeAs`      the field of the input that carries the last partial result, if there is one.
 * - `epoch`         of the latest assignment; 0 before the first.
 * - `error`         why it failed for good.
 * - `taint`         where what agents have made of it came from outside, if anything did.
 */
export const SwarmSubTask = z.object({
  id: z.string().min(1),
  description: z.string(),
  assignedAgent: z.string(),
  requiredCapabilities: z.array(z.string()).min(1),
  status: SubTaskStatus,
  result: z.unknown().optional(),
  capability: z.string(),
  input: z.unknown().optional(),
  dependsOn: z.array(z.string()),
  inputFrom: z.record(z.string(), z.string()),
  resumeAs: z.string().optional(),
  epoch: z.int().nonnegative(),
  assignments: z.array(Assignment),
  lates: z.array(LateReport),
  partial: PartialResult.optional(),
  error: SwarmFault.optional(),
  taint: Taint.optional(),
});
export type SwarmSubTask = z.infer<typeof SwarmSubTask>;

/**
 * A swarm (seed 1). What is returned is a picture of one moment, and does not change.
 *
 * - `participants`  the agents that have a sub-task or completed one, in the order of the sub-tasks.
 * - `sharedState`   what the participants share: what the owner gave, and the result of each completed sub-task by its id.
 * - `stateVersion`  +1 with each change of `sharedState`.
 * - `correlationId` the conversation of all its envelopes.
 * - `createdAt`, `endedAt` Unix milliseconds.
 * - `result`        of a completed swarm: the results of its sub-tasks by their ids.
 * - `error`         why it failed.
 * - `taint`         where it came from outside: what its owner had in it when it was written. Whoever reads it has that.
 */
export const SwarmSession = z.object({
  id: z.string().min(1),
  taskDescription: z.string(),
  participants: z.array(z.string()),
  subTasks: z.array(SwarmSubTask),
  status: SwarmStatus,
  sharedState: z.record(z.string(), z.unknown()),
  createdAt: z.number(),
  ownerId: z.string(),
  correlationId: z.string(),
  stateVersion: z.int().nonnegative(),
  endedAt: z.number().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: SwarmFault.optional(),
  taint: Taint.optional(),
});
export type SwarmSession = z.infer<typeof SwarmSession>;

/** Where what is in a swarm came from outside: what its owner had in it, and what agents have made of its parts. */
export const taintOfSession = ({ taint, subTasks }: SwarmSession): Taint | undefined =>
  subTasks.reduce((all: Taint | undefined, subTask) => mergeTaint(all, subTask.taint), taint);
