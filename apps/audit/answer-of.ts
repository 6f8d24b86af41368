import { bySeverityThenPlace, type Finding, type Note } from '@orrery/ralph-loop';
import type { AuditAnswer } from './audit-answer.ts';
import { NoteBook } from './note-book.ts';
import type { ToolOutcome } from './run-tool.ts';
import type { Tool } from './tool.ts';

/**
 * The most findings of an answer, which goes between threads and into a terminal. The least severe beyond that are only
 * counted.
 */
const MAX_FINDINGS = 2_000;

/**
 * Makes a planet's answer from the outcomes of its tools. `listing` is what was left out of the list of files.
 *
 * A tool that died, or could not read its files, is noted and named in the summary; the findings of the others count. If all
 * tools with files to read have died, the task is refused.
 */
export function answerOf(
  tools: readonly Pick<Tool, 'name' | 'nothing'>[],
  listing: readonly Note[],
  came: readonly ToolOutcome[],
): AuditAnswer | { readonly refusal: string } {
  const outcomes = came.map((outcome, index) =>
    sawNothing(outcome) ? { nothing: tools[index]?.nothing ?? '' } : outcome,
  );
  const notes = new NoteBook();
  for (const note of listing) notes.add(note);
  const reports = outcomes.flatMap((outcome) => ('report' in outcome ? [outcome.report] : []));
  const deaths = outcomes.flatMap((outcome) => ('died' in outcome ? [outcome.died] : []));
  if (reports.length === 0 && deaths.length > 0) return { refusal: deaths.join('; ') };
  for (const reason of deaths) notes.add({ kind: 'tool-died', reason });
  for (const [index, outcome] of outcomes.entries())
    if ('nothing' in outcome)
      notes.add({ kind: 'nothing-to-read', reason: `${tools[index]?.name}: ${outcome.nothing}` });
  for (const report of reports) for (const note of report.notes) notes.add(note);
  const unread = outcomes.flatMap((outcome, index) => whyUnread(outcome, tools[index]?.name));
  const summary = [...deaths, ...unread].join('; ');
  const findings = distinct(reports.flatMap((report) => report.findings)).sort(bySeverityThenPlace);
  const leftOut = findings.splice(MAX_FINDINGS).length;
  if (leftOut > 0)
    notes.add({
      kind: 'findings-left-out',
      reason: `${leftOut} more findings, the least severe, are not listed`,
    });
  const nothing =
    reports.length > 0 ? [] : outcomes.flatMap((one) => ('nothing' in one ? [one.nothing] : []));
  return {
    findings,
    notes: notes.all(),
    filesSeen: Math.max(0, ...reports.map(({ filesSeen }) => filesSeen)),
    bytesSeen: Math.max(0, ...reports.map(({ bytesSeen }) => bytesSeen)),
    ...(nothing.length === 0 ? {} : { nothing: [...new Set(nothing)].join(', ') }),
    ...(summary === '' ? {} : { summary }),
  };
}

/** Whether a tool had files but none for it, such as packages that are not published. */
const sawNothing = (outcome: ToolOutcome): boolean =>
  'report' in outcome &&
  outcome.report.filesSeen === 0 &&
  outcome.report.findings.length === 0 &&
  outcome.report.notes.length === 0;

/** Kinds of notes about a whole project that was not checked. */
const LIMITS = new Set([
  'no-project',
  'not-installed',
  'unresolved-config',
  'unusable-config',
  'many-errors',
  'memory',
]);

/** Why a tool's result is incomplete: it could read none of its files, or not check a project. */
function whyUnread(outcome: ToolOutcome, tool = ''): string[] {
  if (!('report' in outcome)) return [];
  const { findings, notes, filesSeen } = outcome.report;
  const [first] = filesSeen > 0 || findings.length > 0 ? [] : notes;
  const limit = notes.find(({ kind }) => LIMITS.has(kind)) ?? first;
  return limit === undefined ? [] : [`${tool}: ${limit.reason}`];
}

/** Removes repetitions: two tools, or two projects that share a file, may report the same defect. */
const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [finding.id, finding])).values(),
];
