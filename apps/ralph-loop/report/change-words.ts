import { isAbsolute, relative } from 'node:path';
import type { GateReceipt } from '../gates/gate-receipt.ts';
import { firstLine } from '../loop/first-line.ts';
import { CODE_CHANGE } from '../mission/changes-code.ts';
import type { ChangeUsage, MissionReport, TaskReport } from './mission-report.ts';
import { count, printable } from './printable.ts';
import { addedUp } from './spending.ts';
import { usageText } from './usage-text.ts';

/** The most characters of a reason in one line. The JSON report has it whole. */
const MAX_REASON = 300;
const SHORT_HASH = 10;

/** Whether a task was to change the repository. */
export const isChange = ({ capability }: Pick<TaskReport, 'capability'>): boolean =>
  capability === CODE_CHANGE;

/** The first line of a reason, cut: what gates tell the next attempt has the end of their output, too. */
export function reasonLine(reason: string): string {
  const first = firstLine(reason);
  return printable(first.length <= MAX_REASON ? first : `${first.slice(0, MAX_REASON)}…`);
}

export const shortHash = (commit: string): string => printable(commit.slice(0, SHORT_HASH));

/** What a change came to: by which commit it is on the branch, by whom, after how many attempts; or why it is not. */
export function outcomeWords({ status, commit, attempts, receipts = [], why }: TaskReport): string {
  const tries = attempts.length === 1 ? 'at the first attempt' : `after ${count(attempts.length, 'attempt')}`;
  const agent = attempts.at(-1)?.agent;
  const by = agent === undefined ? '' : ` by ${printable(agent)}`;
  if (status === 'accepted') {
    const as = commit === undefined ? '' : ` as ${shortHash(commit)}`;
    const after = attempts.length === 0 ? '' : ` ${tries}`;
    // With receipts the reason only names their gates.
    return `accepted${as}${by}${after}${receipts.length === 0 ? `: ${reasonLine(why)}` : ''}`;
  }
  if (attempts.length === 0) return `${status}, not begun: ${reasonLine(why)}`;
  return `${status} ${tries}${attempts.length === 1 ? '' : ', the last'}${by}: ${reasonLine(why)}`;
}

/** The last that a gate has said of a change. - `isOnMerged` on the merged files; else in the attempt's own worktree. */
export interface LastReceipt {
  readonly receipt: GateReceipt;
  readonly isOnMerged: boolean;
}

/** The last receipt of each gate. A gate is run once in the worktree, and again on the merged files. */
export function lastReceipts({ receipts = [] }: TaskReport): LastReceipt[] {
  const last = new Map<string, LastReceipt>();
  for (const receipt of receipts) last.set(receipt.gate, { receipt, isOnMerged: last.has(receipt.gate) });
  return [...last.values()];
}

/** Says whether a gate has passed, on which files, and how many tests it has counted. */
export function gateWords({ receipt: { gate, passed, why, tests }, isOnMerged }: LastReceipt): string {
  const where = isOnMerged ? 'on the merged files' : 'in its worktree';
  const uncounted = passed && tests === undefined ? '; no count of tests was found' : '';
  return `${gate} ${passed ? 'passed' : 'failed'} ${where}: ${reasonLine(why)}${uncounted}`;
}

/** The gates that say nothing of a change, and why; undefined if there is nothing to say of them. */
export function silentGates({
  status,
  attempts,
  receipts = [],
  notRun = [],
}: TaskReport): string | undefined {
  if (notRun.length > 0) return `not run: ${notRun.join(', ')}`;
  if (receipts.length > 0 || (status !== 'accepted' && attempts.length === 0)) return undefined;
  return status === 'accepted' ? 'no receipt of a gate is known' : 'no gate was run on its last attempt';
}

/** Says what a change has cost, and how much of that is not known; undefined if no agent was asked. */
export function costWords({ usage }: Pick<TaskReport, 'usage'>): string | undefined {
  if (usage === undefined || usage.asked === 0) return undefined;
  const { asked, told } = usage;
  const text = usageText(usage);
  if (told === 0 || text === undefined) return 'unknown, for no agent has told it';
  return told < asked ? `at least ${text} (told ${told} of ${asked} times)` : text;
}

/** What all changes have used; undefined if no agent was asked. */
export function usageOfAll({ tasks }: Pick<MissionReport, 'tasks'>): ChangeUsage | undefined {
  const all = tasks.flatMap(({ usage }) => usage ?? []);
  if (all.length === 0) return undefined;
  return all.reduce((sum, { asked, told, ...usage }) => ({
    ...addedUp(sum, usage),
    asked: sum.asked + asked,
    told: sum.told + told,
  }));
}

/** A path as it is found from the root of the repository, if it is beneath it. */
export function pathFrom(root: string, path: string): string {
  const found = relative(root, path);
  return printable(found === '' || found.startsWith('..') || isAbsolute(found) ? path : found);
}

/** The command that lists what a mission has brought onto its branch. */
export const lookCommand = ({ branch, base }: NonNullable<MissionReport['code']>): string =>
  `git log --stat ${shellWord(`${base.slice(0, SHORT_HASH)}..${branch}`)}`;

/** A word as a shell takes it: git allows names with signs that mean something to one. */
const shellWord = (word: string): string =>
  /^[\w./@:+-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", `'\\''`)}'`;
