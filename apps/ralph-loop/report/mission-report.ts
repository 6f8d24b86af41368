import { z } from 'zod';
import { Finding, Note, RefusedFinding, Severity } from '../findings/finding.ts';
import { Attempt } from '../loop/attempt.ts';
import { StopReason } from '../loop/stop-reason.ts';
import { SwarmPart } from '../loop/swarm-part.ts';
import { TaskStatus } from '../loop/task-status.ts';
import { ThreadEntry } from './thread-entry.ts';

/**
 * What became of one task (of one capability of it, if it needs several).
 *
 * - `id`             the task's id, or `task/capability`.
 * - `why`            it came to `status`, in words.
 * - `correlationId`  under which all its envelopes are found.
 * - `swarm`          if it was handed to one: who had it there, and under which envelopes.
 * - `nothing`        with status `nothing`: what there was none of.
 * - `summary`        what its agent says it came to.
 * - `attempts`       oldest first: who worked on it where, how long, and how it ended.
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
  attempts: z.array(Attempt),
  notes: z.array(Note),
  filesSeen: z.int().nonnegative().optional(),
  bytesSeen: z.int().nonnegative().optional(),
  nothing: z.string().optional(),
  summary: z.string().optional(),
});
export type TaskReport = z.infer<typeof TaskReport>;

/**
 * What the system says about itself when the mission is over.
 *
 * - `envelopes`    how every envelope ended: accepted = handled + rejected + expired + deadLettered +
 *                  inFlight.
 * - `agents`       where each ran, in which thread or process of this machine, and how often it was restarted.
 * - `deadLetters`  the envelopes nobody handled, and why.
 * - `threads`      the envelopes of each task, oldest first; of a long mission, those that are still known.
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
 * A finding as the report has it.
 *
 * - `task`    which it belongs to.
 * - `judged`  `false` when the run ended before the gate had said anything about it.
 * - `also`    who else says the same of that line, by which rule.
 */
export const ReportedFinding = Finding.extend({
  task: z.string(),
  judged: z.literal(false).optional(),
  also: z.array(z.strictObject({ rule: z.string(), agent: z.string(), task: z.string() })).optional(),
});
export type ReportedFinding = z.infer<typeof ReportedFinding>;

/** A finding that is counted and not listed: it was in the former report, or its rule is off. */
export const SuppressedFinding = z.strictObject({
  finding: ReportedFinding,
  by: z.enum(['baseline', 'rule']),
});
export type SuppressedFinding = z.infer<typeof SuppressedFinding>;

/**
 * What a mission came to, as `orrery run --json FILE` writes it.
 *
 * - `startedAtMs`  Unix milliseconds.
 * - `exitCode`     what the command exits with.
 * - `failOn`       the severity from which on findings fail the run, if one was asked for.
 * - `findings`     most severe first: those the gate approved, also of tasks that failed, since each was checked by
 *                  itself; and those that nobody could judge any more.
 * - `suppressed`   findings that `--baseline` or `--rule` took from them.
 * - `refused`      findings that the gate refused. They are not findings.
 * - `receipts`     absent when the run was stopped before they could be had.
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
  receipts: Receipts.optional(),
});
export type MissionReport = z.infer<typeof MissionReport>;
