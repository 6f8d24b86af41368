import { SEVERITIES, type Severity } from '../findings/finding.ts';
import { wasChosen } from '../loop/choice.ts';
import type { MissionOutcome } from '../loop/mission-outcome.ts';
import { EXIT_CODES, type StopReason } from '../loop/stop-reason.ts';
import type { TaskView } from '../loop/why-it-goes-on.ts';
import { tainted } from '../loop/work-taint.ts';
import { type SiftOptions, siftFindings } from './sift-findings.ts';
import type { SkillsReport } from './skills-report.ts';
import { addedUp, NO_SPENDING, type Spending, usedBy } from './spending.ts';
import type { ChangeUsage, MissionReport, Receipts, ReportedFinding, TaskReport } from './mission-report.ts';

/**
 * Options of `buildReport`.
 *
 * - `levels`, `baseline` decide which findings are listed, and how severe they are.
 * - `failOn`        findings of this severity or worse fail a run that would have passed.
 * - `signalNumber`  of the signal that stopped the run, for its exit code.
 * - `skills`        what its skills did, from `MissionSkills.conclude`. A rule that is broken counts for `failOn`.
 * - `receipts`      what the system did, from `gatherReceipts`.
 * - `spending`      what coding agents have told while it ran. Without it only what their attempts have kept is known.
 */
export interface ReportOptions extends SiftOptions {
  readonly failOn?: Severity;
  readonly signalNumber?: number;
  readonly skills?: SkillsReport;
  readonly receipts?: Receipts;
  readonly spending?: Spending;
}

/** Added to the number of the signal that ended a process, for its exit code, by custom of shells. */
const SIGNAL_EXIT_BASE = 128;

/** Makes the report of a mission that is over. */
export function buildReport(
  outcome: MissionOutcome,
  { failOn, signalNumber, skills, receipts, spending = NO_SPENDING, ...sift }: ReportOptions = {},
): MissionReport {
  const { mission, root, startedAtMs, endedAtMs, assigner, gate, tasks, code } = outcome;
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
    tasks: tasks.map((task) => taskReport(task, spending)),
    ...(code === undefined ? {} : { code }),
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

function taskReport({ status, context }: TaskView, spending: Spending): TaskReport {
  const { item, why, attempts, result, swarm, taint } = context;
  const { filesSeen, bytesSeen, nothing, summary } = result ?? {};
  const choices = context.choices.filter(wasChosen);
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
    ...(choices.length === 0 ? {} : { choices }),
    attempts: [...attempts],
    notes: result?.notes ?? [],
    ...(filesSeen === undefined ? {} : { filesSeen }),
    ...(bytesSeen === undefined ? {} : { bytesSeen }),
    ...(nothing === undefined ? {} : { nothing }),
    ...(summary === undefined ? {} : { summary }),
    ...tainted(taint),
    ...changeReport({ status, context }, spending),
  };
}

/** What the report says of a change of the repository; nothing for other tasks. */
function changeReport(
  { status, context }: TaskView,
  spending: Spending,
): Pick<TaskReport, 'commit' | 'receipts' | 'notRun' | 'usage'> {
  const { item, commit, receipts, attempts } = context;
  if (item.code === undefined) return {};
  const ran = new Set(receipts.map(({ gate }) => gate));
  const notRun = item.code.gates.map(({ name }) => name).filter((name) => !ran.has(name));
  // Of what was merged in a run before only the commit may be known, and what was never tried has no gates to run.
  const isTold = status !== 'accepted' && attempts.length > 0 && notRun.length > 0;
  const usage = usageOf(context, spending);
  return {
    ...(commit === undefined ? {} : { commit }),
    receipts: [...receipts],
    ...(isTold ? { notRun } : {}),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** What a change has used: as its agents have told it in this run, or else as its attempts of a run before have it. */
function usageOf({ item, attempts }: TaskView['context'], spending: Spending): ChangeUsage | undefined {
  const now = spending.get(item.id);
  if (now !== undefined) return { ...usedBy(now), asked: now.asked, told: now.told };
  if (attempts.length === 0) return undefined;
  const told = attempts.flatMap(({ usage }) => usage ?? []);
  return { ...told.reduce(addedUp, {}), asked: attempts.length, told: told.length };
}
