import { CodingUsage } from 'orrery/coding';
import { z } from 'zod';
import { Finding, Note, RefusedFinding, Severity } from '../findings/finding.ts';
import { GateReceipt } from '../gates/gate-receipt.ts';
import { Attempt } from '../loop/attempt.ts';
import { Choice } from '../loop/choice.ts';
import { StopReason } from '../loop/stop-reason.ts';
import { SwarmPart } from '../loop/swarm-part.ts';
import { TaskStatus } from '../loop/task-status.ts';
import { SkillsReport } from './skills-report.ts';
import { ThreadEntry } from './thread-entry.ts';

/**
 * What the coding agents of a task have used, as far as they say. What is absent is not known.
 *
 * - `asked` how often one was asked; `told` how often one has said what it used. The sums are of these.
 */
export const ChangeUsage = CodingUsage.extend({
  asked: z.int().nonnegative(),
  told: z.int().nonnegative(),
});
export type ChangeUsage = z.infer<typeof ChangeUsage>;

/**
 * The report on one task, or on one capability of a task that needs several.
 *
 * - `id`             id of the task, or `task/capability`.
 * - `why`            a sentence about its status.
 * - `correlationId`  of all its envelopes.
 * - `swarm`          its agents and envelopes in a swarm, if it was in one.
 * - `nothing`        with status `nothing`: what there was not.
 * - `summary`        its agent's summary.
 * - `choices`        how agents were chosen for it, oldest first, where there was a choice.
 * - `attempts`       oldest first.
 * - `taint`          where what its agents said came from outside.
 * - `commit`         by which its change is on the branch.
 * - `receipts`       of the gates of its last attempt, in its worktree and then on the merged files.
 * - `notRun`         its gates that were not run on its last attempt.
 * - `usage`          what its coding agents have used.
 */
export const TaskReport = z.strictObject({
  id: z.string(),
  task: z.string(),
  title: z.string(),
  capability: z.string(),
  status: TaskStatus,
  why: z.string(),
  correlationId: z.string(),
  dependsOn: z.array(z.string()),
  after: z.array(z.string()).optional(),
  swarm: SwarmPart.optional(),
  choices: z.array(Choice).optional(),
  attempts: z.array(Attempt),
  notes: z.array(Note),
  filesSeen: z.int().nonnegative().optional(),
  bytesSeen: z.int().nonnegative().optional(),
  nothing: z.string().optional(),
  summary: z.string().optional(),
  taint: z.array(z.string()).readonly().optional(),
  commit: z.string().min(1).optional(),
  receipts: z.array(GateReceipt).optional(),
  notRun: z.array(z.string()).optional(),
  usage: ChangeUsage.optional(),
});
export type TaskReport = z.infer<typeof TaskReport>;

/**
 * What the system did in a mission.
 *
 * - `envelopes`    their outcomes: accepted = handled + rejected + expired + deadLettered + inFlight.
 * - `agents`       where each ran, in which thread or process, and its restarts.
 * - `deadLetters`  envelopes that nobody handled, and why.
 * - `threads`      envelopes of each task, oldest first; those that are still known.
 */
export const Receipts = z.strictObject({
  envelopes: z.strictObject({
    accepted: z.int().nonnegative(),
    handled: z.int().nonnegative(),
    rejected: z.int().nonnegative(),
    expired: z.int().nonnegative(),
    deadLettered: z.int().nonnegative(),
    inFlight: z.int().nonnegative(),
    holds: z.boolean(),
  }),
  agents: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      place: z.string(),
      threadId: z.int().nonnegative().optional(),
      pid: z.int().positive().optional(),
      status: z.string(),
      restarts: z.int().nonnegative(),
    }),
  ),
  deadLetters: z.array(
    z.strictObject({
      id: z.string().optional(),
      sender: z.string(),
      recipient: z.string(),
      code: z.string(),
      reason: z.string(),
    }),
  ),
  threads: z.array(z.strictObject({ correlationId: z.string(), envelopes: z.array(ThreadEntry) })),
});
export type Receipts = z.infer<typeof Receipts>;

/**
 * A finding in the report.
 *
 * - `task`    id of its task.
 * - `judged`  `false` if the run ended before the gate judged it.
 * - `also`    other agents and rules that report the same at that line.
 */
export const ReportedFinding = Finding.extend({
  task: z.string(),
  judged: z.literal(false).optional(),
  also: z.array(z.strictObject({ rule: z.string(), agent: z.string(), task: z.string() })).optional(),
});
export type ReportedFinding = z.infer<typeof ReportedFinding>;

/** A finding that is counted but not listed: it was in the earlier report, or its rule is off. */
export const SuppressedFinding = z.strictObject({
  finding: ReportedFinding,
  by: z.enum(['baseline', 'rule']),
});
export type SuppressedFinding = z.infer<typeof SuppressedFinding>;

/**
 * The report of a mission, as `orrery run --json FILE` writes it.
 *
 * - `startedAtMs`  Unix milliseconds.
 * - `exitCode`     of the command.
 * - `failOn`       severity that fails the run, if one was set.
 * - `findings`     most severe first: those that the gate approved, also of tasks that failed, and those that could not be
 *                  judged.
 * - `suppressed`   findings that `--baseline` or `--rule` removed.
 * - `refused`      findings that the gate refused.
 * - `code`         branch that the changes were merged into, and the commit that it began at.
 * - `skills`       what the team's skills recalled, remembered and checked, if it has any.
 * - `receipts`     absent if the run was stopped before.
 */
export const MissionReport = z.strictObject({
  format: z.literal('orrery-report'),
  version: z.literal(1),
  mission: z.strictObject({ name: z.string(), description: z.string().optional() }),
  root: z.string(),
  startedAtMs: z.number(),
  durationMs: z.number().nonnegative(),
  stopReason: StopReason,
  exitCode: z.int().nonnegative(),
  failOn: Severity.optional(),
  assigner: z.string(),
  gate: z.string(),
  findings: z.array(ReportedFinding),
  suppressed: z.array(SuppressedFinding),
  refused: z.array(RefusedFinding.extend({ task: z.string() }).strict()),
  tasks: z.array(TaskReport),
  code: z.strictObject({ branch: z.string().min(1), base: z.string().min(1) }).optional(),
  skills: SkillsReport.optional(),
  receipts: Receipts.optional(),
});
export type MissionReport = z.infer<typeof MissionReport>;
