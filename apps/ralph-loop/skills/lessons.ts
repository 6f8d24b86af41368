import { createHash } from 'node:crypto';
import type { Finding, Severity } from '../findings/finding.ts';
import { bySeverityThenPlace } from '../findings/severity-order.ts';
import type { TaskStatus } from '../loop/task-status.ts';
import type { TaskView } from '../loop/why-it-goes-on.ts';
import type { Taint } from '../loop/work-taint.ts';

/**
 * What a run has learned, to be remembered.
 *
 * - `subject`  what it is about: what a later run learns about that takes its place.
 * - `tags`     the first says of which task it is.
 * - `taint`    where it came from outside.
 */
export interface Lesson {
  readonly subject: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly importance: number;
  readonly metadata: Record<string, string | number | number[]>;
  readonly taint: Taint | undefined;
}

/** - `findings` what its task has found, the most severe first; `omitted` how many more it has. */
export interface Lessons {
  readonly task: Lesson;
  readonly findings: readonly Lesson[];
  readonly omitted: number;
}

/** How many different findings of a task are remembered. */
const MOST_FINDINGS = 200;
const FINDING = 'finding ';
const MOST_CONTENT = 4_000;
const MOST_TAG = 64;
const MOST_SUBJECT = 200;
const MOST_LINES = 100;

const IMPORTANCE: Readonly<Record<Severity, number>> = {
  critical: 1,
  high: 0.8,
  medium: 0.6,
  low: 0.4,
  info: 0.2,
};

/** What a task teaches that has come to an end by itself; a task that was cut off, or never begun, teaches nothing. */
const TEACHES: ReadonlySet<TaskStatus> = new Set(['accepted', 'nothing', 'failed', 'exhausted', 'escalated']);

/** What is remembered of a task that is over; undefined if there is nothing to learn from it. */
export function lessonsOf({ status, context }: TaskView, mission: string): Lessons | undefined {
  if (!TEACHES.has(status)) return undefined;
  const groups = [...Map.groupBy(context.findings.toSorted(bySeverityThenPlace), factOf)];
  const tag = taskTag(mission, context.item.id);
  const findings = groups.slice(0, MOST_FINDINGS).map(([fact, found]): Lesson => {
    const [first] = found as [Finding, ...Finding[]];
    const { rule, severity, file, message, agent } = first;
    return {
      subject: `${FINDING}${hashOf(fact)}`,
      content: stored(`${file}: ${message} (${rule}, ${severity})`, MOST_CONTENT),
      tags: [tag, 'finding', severity],
      importance: IMPORTANCE[severity],
      metadata: {
        mission: stored(mission, MOST_SUBJECT),
        task: context.item.id,
        agent,
        rule,
        file: stored(file, MOST_SUBJECT),
        lines: found.map(({ line }) => line).slice(0, MOST_LINES),
      },
      taint: context.taint,
    };
  });
  return {
    task: taskLesson({ status, context }, { mission, tag }),
    findings: isWhole(status) ? findings : [],
    omitted: isWhole(status) ? groups.length - findings.length : 0,
  };
}

/** Whether the findings are all that there are: of a task that failed, nobody knows. */
export const isWhole = (status: TaskStatus): boolean => status === 'accepted' || status === 'nothing';

function taskLesson(
  { status, context }: TaskView,
  { mission, tag }: { readonly mission: string; readonly tag: string },
): Lesson {
  const { item, attempts, why, result, feedback } = context;
  const agent = attempts.at(-1)?.agent;
  const sentences = [
    `Task "${item.id}" of the mission "${mission}" (${item.title}): ${status}${agent === undefined ? '' : ` by ${agent}`}.`,
    isWhole(status) ? '' : `${why}.`,
    result?.summary ?? '',
    feedback === undefined ? '' : `What the gate wanted changed: ${feedback}`,
  ];
  return {
    subject: taskSubject(mission, item.id),
    content: stored(sentences.filter((one) => one !== '').join(' '), MOST_CONTENT),
    tags: [tag, 'task', status],
    importance: isWhole(status) ? 0.5 : 0.9,
    metadata: {
      mission: stored(mission, MOST_SUBJECT),
      task: item.id,
      capability: item.capability,
      attempts: attempts.length,
    },
    taint: context.taint,
  };
}

/** What a finding says, wherever in its file: lines move. */
const factOf = ({ rule, file, message }: Finding): string => `${rule}\0${file}\0${message}`;

/** Whether a memory is about a finding. */
export const isFindingSubject = (subject: string): boolean => subject.startsWith(FINDING);

/** What memories of a task are about. */
export const taskSubject = (mission: string, task: string): string =>
  named(`task ${mission}/${task}`, MOST_SUBJECT);

/** By what all memories of a task are listed. */
export const taskTag = (mission: string, task: string): string => named(`${mission}/${task}`, MOST_TAG);

/** A name that is kept as it is, or its hash where it is too long or nobody could keep it. */
const named = (name: string, most: number): string =>
  name.length <= most && name === stored(name, most) ? name : `sha256:${hashOf(name)}`;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** A text as every store keeps it: no NUL, no half of a character, so long at most. */
const stored = (text: string, most: number): string =>
  text.slice(0, most).toWellFormed().replaceAll('\0', '�');
