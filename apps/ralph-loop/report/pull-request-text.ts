import { isDone } from '../loop/task-status.ts';
import {
  costWords,
  gateWords,
  isChange,
  lastReceipts,
  lookCommand,
  outcomeWords,
  silentGates,
  usageOfAll,
} from './change-words.ts';
import { markdownCode, markdownCommands, markdownText, markdownWords } from './markdown-text.ts';
import type { MissionReport, TaskReport } from './mission-report.ts';
import { count } from './printable.ts';

/** Code hosts take 65,536 characters. */
const MAX_TEXT = 60_000;
/** How many tasks are told of: fewer, if the text gets too long. */
const MOST_TASKS = [100, 30, 10, 3] as const;
const MOST_GATES = 10;
/** The most characters of what an agent says of its change. */
const MAX_WORDS = 600;
const MAX_TITLE = 200;

/**
 * The text of a pull request for what a mission has changed, as Markdown: what was done and what was not, how it was checked, and
 * what it has cost. Words of agents are marked as theirs. No text of theirs or of the mission is markup, a mention or a reference.
 */
export function pullRequestText(report: MissionReport): string {
  const texts = MOST_TASKS.map((most) => [...partsOf(report, most), ''].join('\n'));
  return texts.find(({ length }) => length <= MAX_TEXT) ?? `${texts.at(-1)?.slice(0, MAX_TEXT)}\n`;
}

function partsOf(report: MissionReport, most: number): string[] {
  const { mission, stopReason, code } = report;
  const changes = report.tasks.filter(isChange);
  const [done, open] = [true, false].map((isMeant) =>
    changes.filter(({ status }) => isDone(status) === isMeant),
  );
  const cost = costWords({ usage: usageOfAll(report) });
  return [
    `${markdownText(mission.name.slice(0, MAX_TITLE))}: ${done?.length ?? 0} of ${count(changes.length, 'task')} done (${stopReason}).`,
    ...section('What was done', listed(done ?? [], most, doneLines)),
    ...section('What was not done', listed(open ?? [], most, openLines)),
    ...section('How it was checked', checkLines(changes)),
    ...section('What it has cost', cost === undefined ? [] : [`${markdownText(cost)}.`]),
    ...section('How to look at it', code === undefined ? [] : markdownCommands(lookCommand(code))),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];

function listed(
  tasks: readonly TaskReport[],
  most: number,
  linesOf: (task: TaskReport) => readonly string[],
): string[] {
  const more = tasks.length - most;
  return [
    ...tasks.slice(0, most).flatMap(linesOf),
    ...(more > 0 ? ['', `And ${count(more, 'more task')}.`] : []),
  ];
}

const heading = ({ id, title }: TaskReport): string =>
  `### ${markdownCode(id)} ${markdownText(title.slice(0, MAX_TITLE))}`;

function doneLines(task: TaskReport): string[] {
  const { summary, attempts } = task;
  const cost = costWords(task);
  return [
    heading(task),
    '',
    `- ${markdownText(outcomeWords(task))}`,
    ...gateLines(task),
    ...(cost === undefined ? [] : [`- Cost: ${markdownText(cost)}`]),
    ...(summary === undefined
      ? []
      : [
          '',
          `What ${markdownText(attempts.at(-1)?.agent ?? 'its agent')} says of it, which nobody has checked:`,
          '',
          ...markdownWords(cut(summary, MAX_WORDS)),
        ]),
  ];
}

function openLines(task: TaskReport): string[] {
  const cost = costWords(task);
  return [
    heading(task),
    '',
    `- ${markdownText(outcomeWords(task))}`,
    ...gateLines(task),
    ...(cost === undefined ? [] : [`- Cost: ${markdownText(cost)}`]),
  ];
}

function gateLines(task: TaskReport): string[] {
  const last = lastReceipts(task);
  const more = last.length - MOST_GATES;
  const silent = silentGates(task);
  return [
    ...last.slice(0, MOST_GATES).map((one) => `- Gate ${markdownText(gateWords(one))}`),
    ...(more > 0 ? [`- And ${count(more, 'more gate')}`] : []),
    ...(silent === undefined ? [] : [`- ${markdownText(silent)}`]),
  ];
}

/** The commands that were run, each once. */
function checkLines(changes: readonly TaskReport[]): string[] {
  const commands = new Map(
    changes.flatMap(({ receipts = [] }) => receipts.map(({ gate, command }) => [command, gate] as const)),
  );
  if (commands.size === 0) return ['No receipt of a gate is known.'];
  return [
    'Orrery has run these commands itself, in the worktree of a task and then on the merged files:',
    '',
    ...[...commands]
      .slice(0, MOST_GATES * 2)
      .map(([command, gate]) => `- ${markdownText(gate)}: ${markdownCode(cut(command, MAX_WORDS))}`),
  ];
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`);
