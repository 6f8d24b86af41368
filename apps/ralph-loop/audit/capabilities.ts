import { capability } from 'orrery';
import { z } from 'zod';
import { AuditReport, Finding } from './finding.ts';
import { Layers } from './layers.ts';

/**
 * What every task is asked with.
 *
 * - `root`      the repository, absolute.
 * - `feedback`  what the gate said about the last answer, if it refused that.
 */
const AuditRequest = z.strictObject({ root: z.string().min(1), feedback: z.string().optional() });

export const typesCheck = capability({
  id: 'types.check',
  description: "The compiler's errors in every project of a repository",
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const architectureCycles = capability({
  id: 'architecture.cycles',
  description: 'Circles of imports, and imports that the given layers do not allow',
  input: AuditRequest.extend({ layers: Layers.optional() }),
  output: AuditReport,
  readOnly: true,
});

export const securityScan = capability({
  id: 'security.scan',
  description: 'Secrets in files, and calls that run or show what they should not',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

/** `task` is for the gate's reader: what was asked for, and what its result should be held against. */
export const VerifyRequest = AuditRequest.extend({
  findings: z.array(Finding),
  task: z.unknown().optional(),
});

/**
 * - `verdict`   `REJECTED` when nothing of the result holds, `NEEDS REVISION` when some of it does.
 * - `feedback`  what to do about it; empty when approved.
 */
export const Verification = z.object({
  verdict: z.enum(['APPROVED', 'NEEDS REVISION', 'REJECTED']),
  approved: z.array(Finding),
  rejected: z.array(z.object({ finding: Finding, reason: z.string() })),
  feedback: z.string(),
});
export type Verification = z.infer<typeof Verification>;

export const findingsVerify = capability({
  id: 'findings.verify',
  description: 'Judge findings against the files',
  input: VerifyRequest,
  output: Verification,
  readOnly: true,
});

/** A task as the assigner sees it: the most urgent has the lowest `priority`, none at all is the least urgent. */
export const OpenTask = z.object({
  id: z.string(),
  title: z.string(),
  capability: z.string(),
  priority: z.number().optional(),
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

export const missionAssign = capability({
  id: 'mission.assign',
  description: 'Say who gets which task',
  input: z.object({ tasks: z.array(OpenTask), roster: z.array(Candidate) }),
  output: Assignment,
  readOnly: true,
});
