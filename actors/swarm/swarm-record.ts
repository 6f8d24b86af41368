import { z } from 'zod';
import { Behalf } from '../../runtime/public.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { SwarmLimits } from './swarm-options.ts';
import { SwarmSession, type SwarmSubTask } from './swarm-session.ts';

/**
 * How an agent stands to a swarm.
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

/** All that has to be kept of a swarm so that a coordinator that starts again goes on with it. Never changed, only replaced. */
export const SwarmRecord = z.object({
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
