import { SEVERITIES, type Severity } from '../findings/finding.ts';
import type { MissionOutcome } from '../loop/mission-outcome.ts';
import { EXIT_CODES, type StopReason } from '../loop/stop-reason.ts';
import type { TaskView } from '../loop/why-it-goes-on.ts';
import { tainted } from '../loop/work-taint.ts';
import { type SiftOptions, siftFindings } from './sift-findings.ts';
import type { SkillsReport } from './skills-report.ts';
import type { MissionReport, Receipts, ReportedFinding, TaskReport } from './mission-report.ts';

/**
 * Options of `buildReport`.
 *
 * - `levels`, `baseline` decide which findings are listed, and how severe they are.
 * - `failOn`        findings of this severity or worse fail a run that would have passed.
 * - `signalNumber`  of the signal that stopped the run, for its exit code.
 * - `skills`        what its skills did, from `MissionSkills.conclude`. A rule that is broken counts for `failOn`.
 * - `receipts`      what the system did, from `gatherReceipts`.
 */
export interface ReportOptions extends SiftOptions {
  readonly failOn?: Severity;
  readonly signalNumber?: number;
  readonly skills?: SkillsReport;
  readonly receipts?: Receipts;
}

/** Added to the number of the signal that ended a process, for its exit code, by custom of shells. */
const SIGNAL_EXIT_BASE = 128;

/** Makes the report of a mission that is over. */
export function buildReport(
  outcome: MissionOutcome,
  { failOn, signalNumber, skills, receipts, ...sift }: ReportOptions = {},
): MissionReport {
  const { mission, root, startedAtMs, endedAtMs, assigner, gate, tasks } = outcome;
  const { findings, suppressed } = siftFindings(findingsOf(tasks), sift);
  const severities = [...findings.map(({ severity }) => severity), ...brokenBy(skills)];
  const stopReason = withFindings(outcome.stopReason, severities, failOn);
  const wasSignalled = stopReason === 'interrupted' && signalNumber !== undefined;
  return {
    format: 'orrery-report',
    version: 1,
    mission: {
      name: mission.name,
      ...(mission.description === undefined ? {} : { description: mission.description }),
    },
    root,
    startedAtMs,
    durationMs: endedAtMs - startedAtMs,
    stopReason,
    exitCode: wasSignalled ? SIGNAL_EXIT_BASE + signalNumber : EXIT_CODES[stopReason],
    ...(failOn === undefined ? {} : { failOn }),
    assigner,
    gate,
    findings: [...findings],
    suppressed: [...suppressed],
    refused: tasks.flatMap(({ context }) =>
      context.refused.map((refusal) => ({ ...refusal, task: context.item.id })),
    ),
    tasks: tasks.map(taskReport),
    ...(skills === undefined ? {} : { skills }),
    ...(receipts === undefined ? {} : { receipts }),
  };
}

/** Whether a severity is `limit` or worse. */
export const isAtLeast = (severity: Severity, limit: Severity): boolean =>
  SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(limit);

function withFindings(
  reason: StopReason,
  severities: readonly Severity[],
  failOn: Severity | undefined,
): StopReason {
  if (reason !== 'all-accepted' || failOn === undefined) return reason;
  return severities.some((severity) => isAtLeast(severity, failOn)) ? 'findings-at-or-above' : reason;
}

/** As what a rule counts that is broken. */
const SEVERITY_OF_RULE = { block: 'high', warn: 'medium', info: 'info' } as const;

function brokenBy(skills: SkillsReport | undefined): Severity[] {
  return [skills?.knowledge?.summary, skills?.drift?.summary].flatMap((summary) =>
    (['block', 'warn', 'info'] as const).flatMap((rule) =>
      (summary?.[rule] ?? 0) > 0 ? [SEVERITY_OF_RULE[rule]] : [],
    ),
  );
}

/** Collects the findings of all tasks. One that several tasks found is listed once, for the first that was judged. */
function findingsOf(tasks: readonly TaskView[]): ReportedFinding[] {
  const all = tasks.flatMap(({ context: { item, findings, unjudged } }) => [
    ...findings.map((finding): ReportedFinding => ({ ...finding, task: item.id })),
    ...unjudged.map((finding): ReportedFinding => ({ ...finding, task: item.id, judged: false })),
  ]);
  const byId = new Map<string, ReportedFinding>();
  for (const finding of all) {
    const known = byId.get(finding.id);
    if (known === undefined || (known.judged === false && finding.judged !== false))
      byId.set(finding.id, finding);
  }
  return [...byId.values()];
}

function taskReport({ status, context }: TaskView): TaskReport {
  const { item, why, attempts, result, swarm, taint } = context;
  const { filesSeen, bytesSeen, nothing, summary } = result ?? {};
  return {
    id: item.id,
    task: item.taskId,
    title: item.title,
    capability: item.capability,
    status,
    why,
    correlationId: item.correlationId,
    dependsOn: [...item.dependsOn],
    ...(item.after.length === 0 ? {} : { after: [...item.after] }),
    ...(swarm === undefined ? {} : { swarm }),
    attempts: [...attempts],
    notes: result?.notes ?? [],
    ...(filesSeen === undefined ? {} : { filesSeen }),
    ...(bytesSeen === undefined ? {} : { bytesSeen }),
    ...(nothing === undefined ? {} : { nothing }),
    ...(summary === undefined ? {} : { summary }),
    ...tainted(taint),
  };
}
