import { capability } from 'orrery';
import { z } from 'zod';
import { Finding, RefusedFinding } from '../findings/finding.ts';
import { Verification } from '../findings/verification.ts';

/** The input of the gate. `task` is what was asked for, and what the result should satisfy. */
export const VerifyRequest = z.strictObject({
  root: z.string().min(1),
  findings: z.array(Finding),
  task: z.unknown().optional(),
});
export type VerifyRequest = z.infer<typeof VerifyRequest>;

/** The capability of the gate: verifies findings against the files. */
export const findingsVerify = capability({
  id: 'findings.verify',
  description: 'Judge findings against the files',
  input: VerifyRequest,
  output: Verification,
  readOnly: true,
});

/**
 * A task as the assigner sees it.
 *
 * - `priority` the lowest is the most urgent; without one it comes last.
 * - `declined` ids of agents that must not get it.
 */
export const OpenTask = z.object({
  id: z.string(),
  title: z.string(),
  capability: z.string(),
  priority: z.number().optional(),
  declined: z.array(z.string()).readonly().optional(),
});
export type OpenTask = z.infer<typeof OpenTask>;

/**
 * An agent as the assigner sees it.
 *
 * - `waiting` envelopes in its mailbox.
 * - `inHand`  tasks of the mission that it has been given, and has not answered. @default 0
 */
export const Candidate = z.object({
  id: z.string(),
  capabilities: z.array(z.string()).readonly(),
  status: z.string(),
  waiting: z.int().nonnegative(),
  inHand: z.int().nonnegative().optional(),
});
export type Candidate = z.infer<typeof Candidate>;

/** How much an agent has to do. */
export const loadOf = ({ waiting, inHand = 0 }: Pick<Candidate, 'waiting' | 'inHand'>): number =>
  waiting + inHand;

/**
 * An agent that the assigner has compared for a task.
 *
 * - `load`  how much it has to do: tasks of the mission, those included that it was given just before, and envelopes in its mailbox.
 * - `out`   why it was not to be had; absent if it was.
 */
export const Bid = z.object({
  agent: z.string(),
  load: z.int().nonnegative(),
  out: z.string().optional(),
});
export type Bid = z.infer<typeof Bid>;

/** The most bids of a task that are told. */
export const MAX_BIDS = 16;

/**
 * The assigner's answer: the agent of each task, and tasks without one, with the reason. It may say which agents it has compared,
 * and in a sentence why it has chosen that one.
 */
export const Assignment = z.object({
  assignments: z.array(
    z.object({
      taskId: z.string(),
      agent: z.string(),
      bids: z.array(Bid).optional(),
      reason: z.string().optional(),
    }),
  ),
  unassignable: z.array(z.object({ taskId: z.string(), reason: z.string() })),
});
export type Assignment = z.infer<typeof Assignment>;

/**
 * A task that no agent is left for.
 *
 * - `why`          the last failure.
 * - `tried`        the agents that failed at it or declined it, in order, with reasons.
 * - `isSecondTime` it was recovered before.
 */
export const RecoveryRequest = z.object({
  task: OpenTask,
  why: z.string(),
  tried: z.array(z.object({ agent: z.string(), reason: z.string() })),
  roster: z.array(Candidate),
  isSecondTime: z.boolean(),
});
export type RecoveryRequest = z.infer<typeof RecoveryRequest>;

/** What happens to a task without an agent: `again` asks all agents once more, `human` leaves it to a person. */
export const Recovery = z.object({ decision: z.enum(['again', 'human']), reason: z.string() });
export type Recovery = z.infer<typeof Recovery>;

/** The capability of the assigner to decide about a task that no agent is left for. */
export const missionRecover = capability({
  id: 'mission.recover',
  description: 'Say what is to become of a task that no agent could do',
  input: RecoveryRequest,
  output: Recovery,
  readOnly: true,
});

/** Findings that MERCURY has refused and `agent` has found again. `approved` is the number of its other findings. */
export const Dispute = z.object({
  agent: z.string(),
  approved: z.int().nonnegative(),
  disputed: z.array(RefusedFinding).min(1),
});
export type Dispute = z.infer<typeof Dispute>;

/** The decision on a dispute: `withdraw` drops the disputed findings, `give-up` drops all. */
export const Ruling = z.object({ ruling: z.enum(['withdraw', 'give-up']), reason: z.string() });
export type Ruling = z.infer<typeof Ruling>;

/** The capability of the assigner to decide disputes about findings. */
export const missionRule = capability({
  id: 'mission.rule',
  description: 'Settle a dispute between an agent and the gate',
  input: Dispute,
  output: Ruling,
  readOnly: true,
});

/** The capability of the assigner: decides which agent gets which task. */
export const missionAssign = capability({
  id: 'mission.assign',
  description: 'Say who gets which task',
  input: z.object({ tasks: z.array(OpenTask), roster: z.array(Candidate) }),
  output: Assignment,
  readOnly: true,
});
