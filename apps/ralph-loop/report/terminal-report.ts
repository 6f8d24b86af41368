import { SEVERITIES, type Severity } from '../findings/finding.ts';
import type { StopReason } from '../loop/stop-reason.ts';
import { isDone } from '../loop/task-status.ts';
import { changeLines, changesTitle } from './change-lines.ts';
import { choiceWords } from './choice-words.ts';
import { costWords, isChange, reasonLine, usageOfAll } from './change-words.ts';
import type { MissionReport, Receipts, ReportedFinding, TaskReport } from './mission-report.ts';
import { type Paint, plain } from './paint.ts';
import { byteCount, count, duration, printable } from './printable.ts';
import { skillsLines } from './skills-lines.ts';
import { table } from './table.ts';

/** The most findings of one severity that are listed: nobody reads ten thousand lines. */
const MAX_LISTED = 20;
const MAX_LISTED_IN_FULL = 200;

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
  'budget-limit': 'its coding agents have used what they may use',
  'no-progress': 'too many attempts in a row came to nothing',
  'time-limit': 'the time was over',
  'human-needed': 'a human is needed',
  interrupted: 'stopped',
};

/**
 * How much of the report is printed.
 *
 * - `brief`  the findings and how the run ended.
 * - `short`  also what went wrong, and summaries of notes and receipts.
 * - `full`   also every task, note and receipt.
 */
export type ReportDetail = 'brief' | 'short' | 'full';

/** Formats the report for a terminal, as lines, with the findings first. */
export function terminalReport(
  report: MissionReport,
  paint: Paint = plain,
  detail: ReportDetail = 'short',
): string[] {
  const { tasks, skills, receipts } = report;
  const isBrief = detail === 'brief';
  const changes = section(changesTitle(report), paint, changeLines(report, paint, { isBrief }));
  const findings = isOnlyChanges(report) ? [] : [...findingLines(report, paint, detail), ''];
  if (isBrief) return [...findings, ...changes, summary(report, paint)];
  const isFull = detail === 'full';
  const atMost = isFull ? MAX_LISTED_IN_FULL : MAX_LISTED;
  const { memory, rules, failures } = skills === undefined ? NO_SKILLS : skillsLines(skills, { atMost });
  const short = [...nothingLines(tasks), ...noteSummary(tasks), ...receiptLine(receipts)];
  return [
    ...findings,
    ...changes,
    ...section('Summaries', paint, summaryLines(tasks)),
    ...(isFull ? section('Tasks', paint, taskLines(tasks)) : []),
    ...section('Chosen among several', paint, tasks.flatMap(choiceLines)),
    ...section('Retried', paint, tasks.flatMap(retriedLines)),
    ...section(`Refused by ${report.gate}`, paint, refusedLines(report)),
    ...section('Failed', paint, endedLines(tasks, ['failed', 'exhausted'])),
    ...section('Escalated', paint, endedLines(tasks, ['escalated'])),
    ...section('Left', paint, leftLines(tasks)),
    ...section('Rules', paint, rules),
    ...section('Memory', paint, memory),
    ...section('Not done by the skills', paint, failures),
    ...(isFull ? section('Left out', paint, noteLines(tasks)) : short),
    ...(isFull && receipts !== undefined ? section('Receipts', paint, receiptLines(receipts)) : []),
    summary(report, paint),
  ];
}

/** Whether nobody was to find anything, and nobody has. */
const isOnlyChanges = ({ findings, tasks }: MissionReport): boolean =>
  findings.length === 0 && tasks.length > 0 && tasks.every(isChange);

const NO_SKILLS = { memory: [], rules: [], failures: [] };

const section = (title: string, paint: Paint, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [paint('bold', title), ...lines.map((line) => `  ${line}`), ''];

function findingLines(
  { findings, tasks, suppressed }: MissionReport,
  paint: Paint,
  detail: ReportDetail,
): string[] {
  const atMost = detail === 'full' ? MAX_LISTED_IN_FULL : MAX_LISTED;
  const present = SEVERITIES.filter((severity) => findings.some((finding) => finding.severity === severity));
  const listed = present.flatMap((severity) => {
    const all = findings.filter((finding) => finding.severity === severity);
    const more = all.length - atMost;
    const rest = more > 0 ? [`  ... and ${more} more; --json FILE has them all`] : [];
    return [
      severityTitle(severity, all.length, paint),
      ...all
        .slice(0, atMost)
        .flatMap((finding) => [
          `  ${findingLine(finding, paint)}`,
          ...(finding.evidence === '' ? [] : [`      ${paint('dim', printable(finding.evidence))}`]),
        ]),
      ...rest,
    ];
  });
  const looked = tasks.filter((task) => !isChange(task));
  return [...(present.length === 0 ? [noFindings(looked)] : listed), ...suppressedLines(suppressed)];
}

const severityTitle = (severity: Severity, many: number, paint: Paint): string =>
  paint(SEVERITY_STYLE[severity], `${severity.toUpperCase()} (${many})`);

/** Formats a finding as a line that begins with its place. */
export function findingLine(finding: ReportedFinding, paint: Paint): string {
  const { file, line, column, message, rule, agent, also = [], judged } = finding;
  const who = [`${rule}, ${agent}`, ...also.map((other) => `${other.rule}, ${other.agent}`)].join('; also ');
  const place = `${printable(file)}:${line}${column === undefined ? '' : `:${column}`}`;
  return `${place}  ${printable(message)}  ${paint('dim', `${printable(who)}${judged === false ? ', not judged' : ''}`)}`;
}

/** Formats a finding as a line that begins with its severity. */
export const ratedFindingLine = (finding: ReportedFinding, paint: Paint): string =>
  `${paint(SEVERITY_STYLE[finding.severity], finding.severity.padEnd(8))}  ${findingLine(finding, paint)}`;

function suppressedLines(suppressed: MissionReport['suppressed']): string[] {
  const known = suppressed.filter(({ by }) => by === 'baseline').length;
  const off = suppressed.length - known;
  return [
    ...(known > 0 ? [`${count(known, 'finding')} of the former report not listed`] : []),
    ...(off > 0 ? [`${count(off, 'finding')} of rules that are off not listed`] : []),
  ];
}

/** The line for no findings. It also says how many tasks were not accepted. */
function noFindings(tasks: readonly TaskReport[]): string {
  const done = tasks.filter(({ status }) => isDone(status));
  if (done.length === tasks.length)
    return done.every(({ status }) => status === 'nothing') ? 'Nothing to read.' : 'No findings.';
  return done.length === 0
    ? 'Nothing can be said about findings: no task was accepted.'
    : `No findings in ${done.length} of ${count(tasks.length, 'task')}; the others were not accepted.`;
}

const summaryLines = (tasks: readonly TaskReport[]): string[] =>
  tasks.flatMap((task) => {
    const { id, summary: said } = task;
    if (said === undefined) return [];
    // Its gates say what a change is. What its agent says of it is a claim.
    const says = isChange(task) ? `${id}, says its agent: ` : `${id}: `;
    return said.split('\n').map((line, at) => `${at === 0 ? says : '  '}${printable(line)}`);
  });

/** A line about tasks with nothing to read. */
const nothingLines = (tasks: readonly TaskReport[]): string[] => {
  const all = tasks.filter(({ status }) => status === 'nothing');
  return all.length === 0
    ? []
    : [`Nothing to read: ${all.map(({ id, nothing }) => `${id} (${printable(nothing ?? '')})`).join(', ')}`];
};

const taskLines = (tasks: readonly TaskReport[]): string[] =>
  table(
    tasks.map((task) => {
      const last = task.attempts.at(-1);
      const tookMs = task.attempts.reduce((sum, { durationMs, gateMs = 0 }) => sum + durationMs + gateMs, 0);
      return [
        task.id,
        task.status === 'nothing' ? 'nothing to read' : task.status,
        last?.agent ?? '-',
        last?.place ?? '-',
        count(task.attempts.length, 'attempt'),
        duration(tookMs),
        seen(task),
        task.status === 'accepted' ? '' : isChange(task) ? reasonLine(task.why) : printable(task.why),
      ];
    }),
  );

const seen = ({ filesSeen, bytesSeen }: TaskReport): string =>
  [
    ...(filesSeen === undefined ? [] : [count(filesSeen, 'file')]),
    ...(bytesSeen === undefined ? [] : [byteCount(bytesSeen)]),
  ].join(', ');

/** Those of a change stand beneath it. */
const choiceLines = (task: TaskReport): string[] =>
  isChange(task) ? [] : (task.choices ?? []).map((choice) => `${task.id}: ${choiceWords(choice)}`);

const retriedLines = (task: TaskReport): string[] => {
  const { id, attempts } = task;
  const told = isChange(task) ? reasonLine : printable;
  return attempts.length < 2
    ? []
    : attempts.map(
        ({ number, agent, ended, reason }) =>
          `${id}, attempt ${number} by ${agent}: ${ended}${reason === undefined ? '' : `: ${told(reason)}`}`,
      );
};

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
  tasks
    .filter((task) => statuses.includes(task.status) && !isChange(task))
    .map(({ id, why }) => `${id}: ${printable(why)}`);

/** The most ids in a line; others are counted. */
const MAX_NAMED = 3;

/** Lines about tasks that were not done, one for each reason. */
function leftLines(tasks: readonly TaskReport[]): string[] {
  const left = tasks.filter(
    (task) => (task.status === 'cancelled' || task.status === 'blocked') && !isChange(task),
  );
  return [...Map.groupBy(left, ({ why }) => why)].map(([why, all]) => {
    if (all.length === 1) return `${all[0]?.id}: ${printable(why)}`;
    return `${all.length} tasks were not done: ${someOf(all.map(({ id }) => id))} (${printable(why)})`;
  });
}

/** Lists ids, as in `a, b and c` or `a, b, c and 16 more`. */
function someOf(ids: readonly string[]): string {
  const named = ids.slice(0, ids.length > MAX_NAMED + 1 ? MAX_NAMED : -1);
  const more = ids.length - named.length;
  return `${named.join(', ')} and ${more === 1 ? ids.at(-1) : `${more} more`}`;
}

/** Lines of notes; equal notes of several tasks are one line. */
function noteLines(tasks: readonly TaskReport[]): string[] {
  const notes = tasks.flatMap(({ id, notes: own }) => own.map((note) => ({ id, text: noteText(note) })));
  return [...Map.groupBy(notes, ({ text }) => text)].map(([text, [first, ...others]]) => {
    const more = others.length > 0 ? ` and ${count(others.length, 'other')}` : '';
    return `${first?.id}${more}: ${text}`;
  });
}

/** A line with the number of notes by kind. */
function noteSummary(tasks: readonly TaskReport[]): string[] {
  const distinct = new Map(tasks.flatMap(({ notes }) => notes.map((note) => [noteText(note), note.kind])));
  const byKind = Map.groupBy(distinct.values(), (kind) => kind);
  const counts = [...byKind].map(([kind, all]) => `${printable(kind)} ${all.length}`);
  return counts.length === 0 ? [] : [`Notes: ${counts.join(', ')} (--verbose lists them)`];
}

const noteText = ({ file, reason }: TaskReport['notes'][number]): string =>
  `${file === undefined ? '' : `${printable(file)} `}${printable(reason)}`;

function receiptLine(receipts: Receipts | undefined): string[] {
  if (receipts === undefined) return [];
  const { envelopes, agents, deadLetters } = receipts;
  const restarts = agents.reduce((sum, agent) => sum + agent.restarts, 0);
  const isWhole = envelopes.holds ? 'each accounted for' : 'not all accounted for';
  return [
    `Receipts: ${count(envelopes.accepted, 'envelope')}, ${isWhole}; ${count(restarts, 'restart')}; ${count(deadLetters.length, 'dead letter')}`,
  ];
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

function summary(report: MissionReport, paint: Paint): string {
  const { mission, root, stopReason, durationMs, findings, tasks } = report;
  const accepted = tasks.filter(({ status }) => status === 'accepted').length;
  const nothing = tasks.filter(({ status }) => status === 'nothing').length;
  const cost = costWords({ usage: usageOfAll(report) });
  const found = isOnlyChanges(report)
    ? cost === undefined
      ? 'no agent was asked'
      : `cost ${cost}`
    : count(findings.length, 'finding');
  const text =
    `${mission.name} on ${root}: ${ENDINGS[stopReason]} (${stopReason}), ` +
    `${accepted} of ${count(tasks.length, 'task')} accepted${nothing > 0 ? `, ${nothing} with nothing to read` : ''}, ` +
    `${found}, ${duration(durationMs)}`;
  return paint(stopReason === 'all-accepted' ? ['bold', 'green'] : ['bold', 'red'], printable(text));
}
