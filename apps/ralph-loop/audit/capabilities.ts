import { capability } from 'orrery';
import { z } from 'zod';
import { AuditReport, Finding, RefusedFinding } from './finding.ts';
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
  rejected: z.array(RefusedFinding),
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

export const errorsCheck = capability({
  id: 'errors.check',
  description: 'Errors that are dropped, disguised or say nothing',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const integrationsCheck = capability({
  id: 'integrations.check',
  description: 'Requests, webhooks and addresses of other services',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const metricsCheck = capability({
  id: 'metrics.check',
  description: 'Metrics against the conventions of Prometheus, and libraries that write to the console',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const dependenciesCheck = capability({
  id: 'dependencies.check',
  description: 'What packages need against what they declare and what is locked',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const responsiveCheck = capability({
  id: 'responsive.check',
  description: 'Pages, styles and web manifests that do not fit a telephone',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const resilienceCheck = capability({
  id: 'resilience.check',
  description:
    'How the code behaves when something fails: retries, errors that nobody hears, requests without an end',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const performanceCheck = capability({
  id: 'performance.check',
  description: 'Work that blocks, grows faster than it has to, or is done twice; large files',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const releaseCheck = capability({
  id: 'release.check',
  description: 'Workflows, images and packages: how the repository is built and given to others',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const docsCheck = capability({
  id: 'docs.check',
  description: 'Documentation against what it documents: links, anchors, scripts, examples',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const historyBrief = capability({
  id: 'history.brief',
  description: 'What the last commits say about the files',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const ideasCollect = capability({
  id: 'ideas.collect',
  description:
    'What the repository itself says could be done: marks in comments, deprecations, code that is switched off',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const specsCheck = capability({
  id: 'specs.check',
  description: 'Features that cannot run or expect nothing, requirements with the same id or with none',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const uiAccessibility = capability({
  id: 'ui.accessibility',
  description: 'Pages and components that not everybody can use',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const schemaCheck = capability({
  id: 'schema.check',
  description: 'Tables, keys, indexes and views in SQL, and JSON Schemas that are none',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const testsCheck = capability({
  id: 'tests.check',
  description: 'Tests that do not run, or that nothing can make fail',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});

export const realtimeCheck = capability({
  id: 'realtime.check',
  description: 'Subscriptions, intervals and sockets that nobody ends or watches',
  input: AuditRequest,
  output: AuditReport,
  readOnly: true,
});
