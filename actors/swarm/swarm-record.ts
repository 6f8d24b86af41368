import { z } from 'zod';
import { Behalf } from '../../runtime/public.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import {
  type Assignment,
  type AssignmentEnd,
  type SwarmFault,
  SwarmSession,
  type SwarmSubTask,
} from './swarm-session.ts';

/**
 * The limits of a swarm.
 *
 * - `recruitMs`   how long the answers to its proposals are waited for. @default 5_000
 * - `leaseMs`     how long an agent may keep a sub-task without progress, checkpoint or result. @default 30_000
 * - `graceMs`     how long an agent that lost its assignment is still listened to before its work is cancelled. @default leaseMs
 * - `timeoutMs`   how long the swarm may take. @default as long as somebody makes progress
 * - `maxPerAgent` sub-tasks that one agent has at the same time. @default 1
 * - `maxAssignments` how often one sub-task is assigned before it fails. @default 16
 * - `onFailure`   when a sub-task fails for good: `finish` the others first, or `stop`. @default 'finish'
 */
export const SwarmLimits = z
  .strictObject({
    recruitMs: Milliseconds.default(5_000),
    leaseMs: Milliseconds.default(30_000),
    graceMs: Milliseconds.optional(),
    timeoutMs: Milliseconds.optional(),
    maxPerAgent: z.int().positive().default(1),
    maxAssignments: z.int().positive().default(16),
    onFailure: z.enum(['finish', 'stop']).default('finish'),
  })
  .transform(({ graceMs, ...limits }) => ({ ...limits, graceMs: graceMs ?? limits.leaseMs }));
export type SwarmLimits = z.output<typeof SwarmLimits>;

/**
 * What an agent is to a swarm.
 *
 * - `invited`  it has a proposal and has not answered yet.
 * - `willing`  it takes part if there is something for it to do.
 * - `declined` it said no.
 * - `silent`   it did not answer in time. That says nothing about whether it lives.
 * - `left`     it left, or cannot be reached; it may join again.
 */
export const Standing = z.enum(['invited', 'willing', 'declined', 'silent', 'left']);
export type Standing = z.infer<typeof Standing>;

/**
 * `invitations` counts the proposals it got, `proposalId` is the one that it accepted; `reason` says why it declined or is
 * gone; `listens` that it is told of changes.
 */
export const TeamMember = z.object({
  agentId: z.string(),
  standing: Standing,
  invitations: z.int().nonnegative(),
  proposalId: z.string().optional(),
  reason: z.string().optional(),
  listens: z.boolean(),
});
export type TeamMember = z.infer<typeof TeamMember>;

/**
 * The work of its owner in which a swarm was made.
 *
 * - `envelopeId`   of what the owner was handling; absent while it began or ended its life.
 * - `nth`          of the swarms that were made there, from 1.
 * - `isTriedAgain` when a death cuts it off: then the next attempt makes the same swarms, and finds them.
 * - `deadlineAtMs` Unix milliseconds, if it has one.
 */
export const SwarmWork = z.object({
  envelopeId: z.string().optional(),
  nth: z.int().positive(),
  isTriedAgain: z.boolean(),
  deadlineAtMs: z.number().optional(),
});
export type SwarmWork = z.infer<typeof SwarmWork>;

/** Of the record's form; one that is written in another is refused. What was written before forms had versions has this one. */
export const RECORD_VERSION = 1;

/**
 * All that has to be kept of a swarm so that a coordinator that starts again goes on with it. Never changed, only replaced.
 *
 * The machines of the swarm and of its sub-tasks are kept in it: `status` is where one stands, and its context is `epoch`,
 * `assignedAgent` and `heardAtMs`, from which its delays follow.
 */
export const SwarmRecord = z.object({
  version: z.literal(RECORD_VERSION).default(RECORD_VERSION),
  session: SwarmSession,
  limits: SwarmLimits,
  complexity: z.enum(['simple', 'medium', 'complex']),
  justification: z.string().optional(),
  team: z.array(TeamMember),
  /** Absent when it belongs to no work in particular, as those of the embedder. */
  work: SwarmWork.optional(),
  /** On whose behalf its owner made it: so is all that is done in it. */
  behalf: Behalf.optional(),
  /** When the agent of a sub-task was last heard of under its latest assignment, in Unix milliseconds. */
  heardAtMs: z.record(z.string(), z.number()).default({}),
});
export type SwarmRecord = z.output<typeof SwarmRecord>;

/** The sub-task if the swarm has it. */
export const subTaskIn = ({ session }: SwarmRecord, subTaskId: string): SwarmSubTask | undefined =>
  session.subTasks.find(({ id }) => id === subTaskId);

export const memberIn = ({ team }: SwarmRecord, agentId: string): TeamMember | undefined =>
  team.find((member) => member.agentId === agentId);

export const withSession = (record: SwarmRecord, changes: Partial<SwarmSession>): SwarmRecord => ({
  ...record,
  session: { ...record.session, ...changes },
});

/** The record with where what is written now came from outside; it has what it had for ever. */
export function withTaint(record: SwarmRecord, taint: Taint | undefined): SwarmRecord {
  const all = mergeTaint(record.session.taint, taint);
  return all === record.session.taint ? record : withSession(record, { taint: all });
}

/** The record with a sub-task changed; who takes part follows from who has a sub-task. */
export function withSubTask(
  record: SwarmRecord,
  subTaskId: string,
  changes: Partial<SwarmSubTask>,
): SwarmRecord {
  const subTasks = record.session.subTasks.map((one) =>
    one.id === subTaskId ? { ...one, ...changes } : one,
  );
  return withSession(record, { subTasks, participants: participantsOf(subTasks) });
}

/** The record with a member changed, or added. */
export function withMember(
  record: SwarmRecord,
  agentId: string,
  changes: Partial<Omit<TeamMember, 'agentId'>>,
): SwarmRecord {
  const known = memberIn(record, agentId) ?? { agentId, standing: 'invited', invitations: 0, listens: false };
  const { reason: _former, ...rest } = known;
  const member: TeamMember = { ...rest, ...changes };
  const others = record.team.filter((one) => one.agentId !== agentId);
  const at = record.team.findIndex((one) => one.agentId === agentId);
  return { ...record, team: at < 0 ? [...others, member] : record.team.with(at, member) };
}

/** The assignments of a sub-task with the latest one ended. */
export function endAssignment(
  { assignments, epoch }: SwarmSubTask,
  { end, error }: { readonly end: AssignmentEnd; readonly error?: SwarmFault },
  nowMs: number,
): Assignment[] {
  const why = error === undefined ? {} : { error };
  return assignments.map((one) => (one.epoch === epoch ? { ...one, end, endedAtMs: nowMs, ...why } : one));
}

/** The epoch that an agent means which names none: that of its own latest assignment; undefined if it never had one. */
export const latestEpochOf = (
  { assignments }: Pick<SwarmSubTask, 'assignments'>,
  agentId: string,
): number | undefined => assignments.findLast((one) => one.agentId === agentId)?.epoch;

const participantsOf = (subTasks: readonly SwarmSubTask[]): string[] => [
  ...new Set(
    subTasks
      .filter(
        ({ status, assignedAgent }) =>
          assignedAgent !== '' && (status === 'running' || status === 'completed'),
      )
      .map(({ assignedAgent }) => assignedAgent),
  ),
];
