import { capability } from 'orrery';
import { z } from 'zod';
import { Finding, RefusedFinding } from '../findings/finding.ts';
import { Verification } from '../findings/verification.ts';

/** `task` is for the gate's reader: what was asked for, and what its result should be held against. */
export const VerifyRequest = z.strictObject({
  root: z.string().min(1),
  findings: z.array(Finding),
  task: z.unknown().optional(),
});
export type VerifyRequest = z.infer<typeof VerifyRequest>;

export const findingsVerify = capability({
  id: 'findings.verify',
  description: 'Judge findings against the files',
  input: VerifyRequest,
  output: Verification,
  readOnly: true,
});

/**
 * A task as the assigner sees it: the most urgent has the lowest `priority`, none at all is the least urgent. It is not
 * given to those who have `declined` it.
 */
export const OpenTask = z.object({
  id: z.string(),
  title: z.string(),
  capability: z.string(),
  priority: z.number().optional(),
  declined: z.array(z.string()).readonly().optional(),
});
export type OpenTask = z.infer<typeof OpenTask>;

/** An agent as the assigner sees it: `waiting` envelopes are in its mailbox. */
export const Candidate = z.object({
  id: z.string(),
  capabilities: z.array(z.string()).readonly(),
  status: z.string(),
  waiting: z.int().nonnegative(),
});
export type Candidate = z.infer<typeof Candidate>;

export const Assignment = z.object({
  assignments: z.array(z.object({ taskId: z.string(), agent: z.string() })),
  unassignable: z.array(z.object({ taskId: z.string(), reason: z.string() })),
});
export type Assignment = z.infer<typeof Assignment>;

/**
 * A task that nobody is left to do.
 *
 * - `why`          the last thing that went wrong.
 * - `tried`        who worked on it in vain or declined it, in that order, and why.
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

/** `again` asks everybody once more, `human` gives it up to a person. */
export const Recovery = z.object({ decision: z.enum(['again', 'human']), reason: z.string() });
export type Recovery = z.infer<typeof Recovery>;

export const missionRecover = capability({
  id: 'mission.recover',
  description: 'Say what is to become of a task that no agent could do',
  input: RecoveryRequest,
  output: Recovery,
  readOnly: true,
});

/** Findings that MERCURY refuses and `agent` finds again; `approved` counts the others. */
export const Dispute = z.object({
  agent: z.string(),
  approved: z.int().nonnegative(),
  disputed: z.array(RefusedFinding).min(1),
});
export type Dispute = z.infer<typeof Dispute>;

/** `withdraw` keeps the others, `give-up` believes none of them. */
export const Ruling = z.object({ ruling: z.enum(['withdraw', 'give-up']), reason: z.string() });
export type Ruling = z.infer<typeof Ruling>;

export const missionRule = capability({
  id: 'mission.rule',
  description: 'Settle a dispute between an agent and the gate',
  input: Dispute,
  output: Ruling,
  readOnly: true,
});

export const missionAssign = capability({
  id: 'mission.assign',
  description: 'Say who gets which task',
  input: z.object({ tasks: z.array(OpenTask), roster: z.array(Candidate) }),
  output: Assignment,
  readOnly: true,
});
