import { choiceWords } from './choice-words.ts';
import {
  costWords,
  gateWords,
  isChange,
  lastReceipts,
  lookCommand,
  outcomeWords,
  pathFrom,
  shortHash,
  silentGates,
  usageOfAll,
} from './change-words.ts';
import type { MissionReport, TaskReport } from './mission-report.ts';
import type { Paint } from './paint.ts';
import { printable } from './printable.ts';

/** The heading of the changes: the branch that has them, and the commit that it began at. */
export const changesTitle = ({ code }: Pick<MissionReport, 'code'>): string =>
  code === undefined ? 'Changes' : `Changes on ${printable(code.branch)}, from ${shortHash(code.base)}`;

/**
 * Lines about what a mission has changed and what not, task by task, and how to look at it; none if it was not to change the
 * repository. Without `isBrief` also why its agent was chosen, its gates, and where their output is.
 */
export function changeLines(
  report: MissionReport,
  paint: Paint,
  { isBrief }: { readonly isBrief: boolean },
): string[] {
  const changes = report.tasks.filter(isChange);
  if (changes.length === 0) return [];
  return [
    ...changes.flatMap((task) => [
      outcomeLine(task, paint),
      ...(isBrief ? [] : [...choiceLines(task), ...gateLines(task, report, paint)]),
    ]),
    ...totalLines(report, changes),
  ];
}

function outcomeLine(task: TaskReport, paint: Paint): string {
  const cost = costWords(task);
  const line = `${printable(task.id)}: ${outcomeWords(task)}${cost === undefined ? '' : `; cost ${cost}`}`;
  return task.status === 'accepted' ? line : paint('red', line);
}

const choiceLines = ({ choices = [] }: TaskReport): string[] =>
  choices.map((choice) => `  ${choiceWords(choice)}`);

function gateLines(task: TaskReport, { root }: MissionReport, paint: Paint): string[] {
  const silent = silentGates(task);
  return [
    ...lastReceipts(task).map((last) => {
      const line = `  ${gateWords(last)}`;
      const log = paint('dim', `log: ${pathFrom(root, last.receipt.logFile)}`);
      return `${last.receipt.passed ? line : paint('red', line)}  ${log}`;
    }),
    ...(silent === undefined ? [] : [`  ${printable(silent)}`]),
  ];
}

function totalLines(report: MissionReport, changes: readonly TaskReport[]): string[] {
  const usage = usageOfAll(report);
  const cost = usage === undefined || changes.length < 2 ? undefined : costWords({ usage });
  const isMerged = changes.some(({ commit }) => commit !== undefined);
  return [
    ...(cost === undefined ? [] : [`cost of all: ${cost}`]),
    ...(report.code === undefined
      ? []
      : [isMerged ? `to look at it: ${lookCommand(report.code)}` : 'nothing was merged']),
  ];
}
