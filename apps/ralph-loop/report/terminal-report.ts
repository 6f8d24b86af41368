import { SEVERITIES, type Severity } from '../findings/finding.ts';
import type { StopReason } from '../loop/stop-reason.ts';
import type { MissionReport, Receipts, TaskReport } from './mission-report.ts';
import { type Paint, plain } from './paint.ts';
import { byteCount, count, duration, printable } from './printable.ts';
import { table } from './table.ts';

/** Findings of one severity that are listed; a report of ten thousand lines is read by nobody. */
const MAX_LISTED = 50;

const SEVERITY_STYLE: Readonly<Record<Severity, Parameters<Paint>[0]>> = {
  critical: ['bold', 'red'],
  high: 'red',
  medium: 'yellow',
  low: 'cyan',
  info: 'dim',
};

const ENDINGS: Readonly<Record<StopReason, string>> = {
  'all-accepted': 'all tasks accepted',
  'findings-at-or-above': 'all tasks accepted, but there are findings that fail the run',
  'task-failed': 'a task failed',
  'task-blocked': 'a task was blocked',
  'attempts-exhausted': 'a task used up its attempts',
  'time-limit': 'the time was over',
  'human-needed': 'a human is needed',
  interrupted: 'stopped',
};

/** The report for a reader, as lines. */
export function terminalReport(report: MissionReport, paint: Paint = plain): string[] {
  return [
    ...findingLines(report, paint),
    '',
    ...section('Tasks', paint, taskLines(report.tasks)),
    ...section('Retried', paint, report.tasks.flatMap(retriedLines)),
    ...section(`Refused by ${report.gate}`, paint, refusedLines(report)),
    ...section('Escalated', paint, endedLines(report.tasks, ['escalated'])),
    ...section('Left', paint, endedLines(report.tasks, ['cancelled', 'blocked'])),
    ...section('Left out', paint, noteLines(report.tasks)),
    ...section('Receipts', paint, report.receipts === undefined ? [] : receiptLines(report.receipts)),
    summary(report, paint),
  ];
}

const section = (title: string, paint: Paint, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [paint('bold', title), ...lines.map((line) => `  ${line}`), ''];

function findingLines({ findings, tasks }: MissionReport, paint: Paint): string[] {
  const present = SEVERITIES.filter((severity) => findings.some((finding) => finding.severity === severity));
  if (present.length === 0) return [noFindings(tasks)];
  return present.flatMap((severity) => {
    const all = findings.filter((finding) => finding.severity === severity);
    const listed = all
      .slice(0, MAX_LISTED)
      .flatMap(({ file, line, column, message, rule, agent, evidence }) => [
        `  ${printable(file)}:${line}${column === undefined ? '' : `:${column}`}  ${printable(message)}  ${paint('dim', `${rule}, ${agent}`)}`,
        `      ${paint('dim', printable(evidence))}`,
      ]);
    const more = all.length - MAX_LISTED;
    const rest = more > 0 ? [`  ... and ${more} more; --json FILE has them all`] : [];
    return [paint(SEVERITY_STYLE[severity], `${severity.toUpperCase()} (${all.length})`), ...listed, ...rest];
  });
}

/** What nobody looked at is not free of findings. */
function noFindings(tasks: readonly TaskReport[]): string {
  const accepted = tasks.filter(({ status }) => status === 'accepted').length;
  if (accepted === tasks.length) return 'No findings.';
  return accepted === 0
    ? 'Nothing can be said about findings: no task was accepted.'
    : `No findings in ${accepted} of ${count(tasks.length, 'task')}; the others were not accepted.`;
}

const taskLines = (tasks: readonly TaskReport[]): string[] =>
  table(
    tasks.map((task) => {
      const last = task.attempts.at(-1);
      const tookMs = task.attempts.reduce((sum, { durationMs, gateMs = 0 }) => sum + durationMs + gateMs, 0);
      return [
        task.id,
        task.status,
        last?.agent ?? '-',
        last?.place ?? '-',
        count(task.attempts.length, 'attempt'),
        duration(tookMs),
        seen(task),
        task.status === 'accepted' ? '' : printable(task.why),
      ];
    }),
  );

const seen = ({ filesSeen, bytesSeen }: TaskReport): string =>
  [
    ...(filesSeen === undefined ? [] : [count(filesSeen, 'file')]),
    ...(bytesSeen === undefined ? [] : [byteCount(bytesSeen)]),
  ].join(', ');

const retriedLines = ({ id, attempts }: TaskReport): string[] =>
  attempts.length < 2
    ? []
    : attempts.map(
        ({ number, agent, ended, reason }) =>
          `${id}, attempt ${number} by ${agent}: ${ended}${reason === undefined ? '' : `: ${printable(reason)}`}`,
      );

function refusedLines({ refused }: MissionReport): string[] {
  const listed = refused
    .slice(0, MAX_LISTED)
    .map(
      ({ task, finding, reason }) =>
        `${task}: ${printable(finding.file)}:${finding.line} ${finding.rule}: ${printable(reason)}`,
    );
  const more = refused.length - listed.length;
  return more > 0 ? [...listed, `... and ${more} more`] : listed;
}

const endedLines = (tasks: readonly TaskReport[], statuses: readonly string[]): string[] =>
  tasks.filter(({ status }) => statuses.includes(status)).map(({ id, why }) => `${id}: ${printable(why)}`);

/** What several tasks left out for the same reason stands there once. */
function noteLines(tasks: readonly TaskReport[]): string[] {
  const notes = tasks.flatMap(({ id, notes: own }) =>
    own.map(({ file, reason }) => ({
      id,
      text: `${file === undefined ? '' : `${printable(file)} `}${printable(reason)}`,
    })),
  );
  return [...Map.groupBy(notes, ({ text }) => text)].map(([text, [first, ...others]]) => {
    const more = others.length > 0 ? ` and ${count(others.length, 'other')}` : '';
    return `${first?.id}${more}: ${text}`;
  });
}

function receiptLines({ envelopes, agents, deadLetters }: Receipts): string[] {
  const { accepted, handled, rejected, expired, deadLettered, inFlight, holds } = envelopes;
  const sum = `${handled} handled + ${rejected} rejected + ${expired} expired + ${deadLettered} dead-lettered + ${inFlight} in flight`;
  const restarted = agents.filter(({ restarts }) => restarts > 0);
  return [
    `envelopes: ${accepted} accepted ${holds ? '=' : 'but'} ${sum}`,
    `restarts: ${restarted.map(({ id, restarts }) => `${id} ${restarts}`).join(', ') || 'none'}`,
    ...deadLetters.map(
      ({ recipient, code, reason }) => `dead letter to ${recipient}: ${code}: ${printable(reason)}`,
    ),
  ];
}

function summary(
  { mission, root, stopReason, durationMs, findings, tasks }: MissionReport,
  paint: Paint,
): string {
  const accepted = tasks.filter(({ status }) => status === 'accepted').length;
  const text =
    `${mission.name} on ${root}: ${ENDINGS[stopReason]} (${stopReason}), ` +
    `${accepted} of ${count(tasks.length, 'task')} accepted, ${count(findings.length, 'finding')}, ${duration(durationMs)}`;
  return paint(stopReason === 'all-accepted' ? ['bold', 'green'] : ['bold', 'red'], printable(text));
}
