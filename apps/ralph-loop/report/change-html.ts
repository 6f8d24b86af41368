import { htmlEscape as html } from 'escape-goat';
import {
  costWords,
  isChange,
  lastReceipts,
  lookCommand,
  outcomeWords,
  pathFrom,
  reasonLine,
  silentGates,
  usageOfAll,
} from './change-words.ts';
import type { MissionReport, TaskReport } from './mission-report.ts';
import { duration, printable } from './printable.ts';

/** A fragment of the page about the branch of a mission, how to look at it, and what it has cost; empty without changes. */
export function changesHtml(report: MissionReport): string {
  const { tasks, code } = report;
  if (!tasks.some(isChange)) return '';
  const isMerged = tasks.some(({ commit }) => commit !== undefined);
  const cost = costWords({ usage: usageOfAll(report) });
  const look = !isMerged || code === undefined ? 'Nothing was merged.' : '';
  return [
    '<h2>Changes</h2>',
    code === undefined
      ? ''
      : html`<p>On <code>${printable(code.branch)}</code>, from <code>${printable(code.base)}</code>. ${look}</p>`,
    isMerged && code !== undefined ? html`<p><code>${lookCommand(code)}</code></p>` : '',
    cost === undefined ? '' : html`<p>Cost of all: ${cost}.</p>`,
  ].join('\n');
}

const HEAD =
  '<tr><th>gate</th><th>command</th><th>on</th><th>what it said</th><th>tests</th><th>took</th><th>output</th></tr>';

/** A fragment of the page about what a task has changed: the outcome, its gates, and its cost. */
export function changeHtml(task: TaskReport, root: string): string {
  const cost = costWords(task);
  const silent = silentGates(task);
  const rows = lastReceipts(task).map(({ receipt, isOnMerged }) => {
    const { gate, command, passed, why, tests, durationMs, logFile } = receipt;
    const verdict = passed ? 'passed' : 'failed';
    return html`<tr><td>${printable(gate)}</td><td><code>${printable(command)}</code></td><td>${isOnMerged ? 'merged files' : 'worktree'}</td><td><strong class="${passed ? 'good' : 'bad'}">${verdict}</strong>: ${reasonLine(why)}</td><td>${testsText(tests)}</td><td>${duration(durationMs)}</td><td><code>${pathFrom(root, logFile)}</code></td></tr>`;
  });
  return [
    html`<p>${outcomeWords(task)}${cost === undefined ? '' : `; cost ${cost}`}</p>`,
    rows.length === 0 ? '' : `<table><thead>${HEAD}</thead>\n<tbody>\n${rows.join('\n')}\n</tbody></table>`,
    silent === undefined ? '' : html`<p>${printable(silent)}</p>`,
  ].join('\n');
}

const testsText = (tests: NonNullable<TaskReport['receipts']>[number]['tests']): string =>
  tests === undefined
    ? 'not counted'
    : printable(`${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} left out (${tests.by})`);
