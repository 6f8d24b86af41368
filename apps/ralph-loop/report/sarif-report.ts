import type { Log, Notification, ReportingDescriptor, Result } from 'sarif';
import type { Severity } from '../findings/finding.ts';
import { isDone } from '../loop/task-status.ts';
import type { MissionReport, ReportedFinding, SuppressedFinding, TaskReport } from './mission-report.ts';

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

const LEVELS: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'note',
};

const JUSTIFICATIONS: Readonly<Record<SuppressedFinding['by'], string>> = {
  baseline: 'It was in the former report',
  rule: 'Its rule is off',
};

/**
 * Formats the report as SARIF 2.1.0: one run, with a result for each finding.
 *
 * Paths are relative to the repository, `SRCROOT`, and percent-encoded. `version` is that of the command.
 */
export function sarifReport(report: MissionReport, version: string): Log {
  const rules = rulesOf(report);
  const indexes = new Map(rules.map(({ id }, index) => [id, index]));
  const { root, startedAtMs, durationMs, exitCode, stopReason } = report;
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'orrery', semanticVersion: version, rules } },
        invocations: [
          {
            executionSuccessful: exitCode === 0 || stopReason === 'findings-at-or-above',
            exitCode,
            exitCodeDescription: stopReason,
            startTimeUtc: new Date(startedAtMs).toISOString(),
            endTimeUtc: new Date(startedAtMs + durationMs).toISOString(),
            toolExecutionNotifications: report.tasks.flatMap(notificationsOf),
          },
        ],
        originalUriBaseIds: { SRCROOT: { uri: folderUri(root) } },
        columnKind: 'utf16CodeUnits',
        results: [
          ...report.findings.map((finding) => resultOf(finding, indexes)),
          ...report.suppressed.map(({ finding, by }) => ({
            ...resultOf(finding, indexes),
            suppressions: [{ kind: 'external' as const, justification: JUSTIFICATIONS[by] }],
          })),
        ],
      },
    ],
  };
}

/** The rules, with a link to their page. Messages are in the findings. */
function rulesOf({ findings, suppressed }: MissionReport): ReportingDescriptor[] {
  const all = [...findings, ...suppressed.map(({ finding }) => finding)];
  const byRule = Map.groupBy(all, ({ rule }) => rule);
  return [...byRule.keys()].sort().map((id) => {
    const help = byRule.get(id)?.find((finding) => finding.help !== undefined)?.help;
    return { id, ...(help === undefined ? {} : { helpUri: help }) };
  });
}

function resultOf(finding: ReportedFinding, indexes: ReadonlyMap<string, number>): Result {
  const { id, rule, severity, message, file, line, column, evidence, agent, task, judged, also } = finding;
  return {
    ruleId: rule,
    ruleIndex: indexes.get(rule) ?? -1,
    level: LEVELS[severity],
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: relativeUri(file), uriBaseId: 'SRCROOT' },
          region: {
            startLine: line,
            ...(column === undefined ? {} : { startColumn: column }),
            snippet: { text: evidence },
          },
        },
      },
    ],
    partialFingerprints: { 'orreryFinding/v1': id },
    properties: {
      severity,
      agent,
      task,
      ...(judged === undefined ? {} : { judged }),
      ...(also === undefined ? {} : { also }),
    },
  };
}

/** Notifications about what was left out, which would look clean otherwise, and an error for a task that was not accepted. */
function notificationsOf({ id, status, why, notes }: TaskReport): Notification[] {
  const left: Notification[] = notes.map(({ kind, file, reason }) => ({
    level: 'note',
    descriptor: { id: kind },
    message: { text: `${id}: ${reason}` },
    ...(file === undefined
      ? {}
      : {
          locations: [
            { physicalLocation: { artifactLocation: { uri: relativeUri(file), uriBaseId: 'SRCROOT' } } },
          ],
        }),
  }));
  if (isDone(status)) return left;
  return [
    { level: 'error', descriptor: { id: `task-${status}` }, message: { text: `${id}: ${why}` } },
    ...left,
  ];
}

const relativeUri = (file: string): string => file.split('/').map(encodeURIComponent).join('/');
const folderUri = (folder: string): string => `file://${relativeUri(folder)}/`;
