import { MissionReport } from '../../apps/ralph-loop/index.ts';
import { type Figures, note } from './figures.ts';
import type { Effect, MissionLog } from './mission-log.ts';

/** One process of a mission. */
export interface MissionLife {
  readonly pid: number;
  readonly log: MissionLog;
  /** What it printed. */
  readonly lines: readonly string[];
}

/** What came of a mission, in however many processes. */
export interface MissionPast {
  readonly name: string;
  readonly items: readonly string[];
  /** Oldest first; the last one completed it. */
  readonly lives: readonly MissionLife[];
  /** What tasks did; absent where that cannot be seen. */
  readonly effects: readonly Effect[] | undefined;
  /** The text of the report that the last one wrote. */
  readonly report: string;
  /** What the report of a run finds that nobody disturbed; absent where there is nothing to be found. */
  readonly findings: readonly string[] | undefined;
}

/** Counts a mission that is over, and notes what should not be. */
export function judgeMission(past: MissionPast, figures: Figures): void {
  const broken = (what: string): unknown => figures.broken.push(`${past.name}: ${what}`);
  judgeLives(past, figures, broken);
  if (past.effects !== undefined) judgeEffects(past, past.effects, figures, broken);
  judgeReport(past, figures, broken);
}

type Broken = (what: string) => unknown;

/** What one process said to be accepted, no later one works on, and the last one knows. */
function judgeLives({ lives, items }: MissionPast, figures: Figures, broken: Broken): void {
  const reported = new Set<string>();
  for (const { log } of lives) {
    for (const task of log.worked.keys()) {
      if (!reported.has(task)) continue;
      figures.appliedTwice += 1;
      broken(`${task} was reported accepted, and is worked on again`);
    }
    for (const line of log.lost) broken(line);
    note(figures, 'tasks remembered', log.remembered.size);
    for (const task of log.accepted) reported.add(task);
  }
  const last = lives.at(-1)?.log;
  const known = new Set([...(last?.remembered ?? []), ...(last?.accepted ?? [])]);
  for (const task of [...reported].filter((one) => !known.has(one))) {
    figures.gone += 1;
    broken(`${task} was reported accepted, and the last run knows nothing of it`);
  }
  for (const task of last?.accepted ?? [])
    if (last?.remembered.has(task)) broken(`${task} came to two outcomes in one run`);
  if (known.size !== items.length) broken(`${known.size} of ${items.length} tasks came to an outcome`);
  note(figures, 'tasks', items.length);
}

/** Every task left its mark, once each time that it was worked on, and never after it was reported accepted. */
function judgeEffects(
  { lives, items }: MissionPast,
  effects: readonly Effect[],
  figures: Figures,
  broken: Broken,
) {
  const acceptedIn = new Map<string, number>();
  for (const [at, { log }] of lives.entries())
    for (const task of log.accepted) if (!acceptedIn.has(task)) acceptedIn.set(task, at);
  for (const task of items) {
    const applied = effects.filter((one) => one.task === task && one.kind === 'applied');
    if (applied.length === 0) {
      figures.gone += 1;
      broken(`${task} is accepted, and was never done`);
    }
    for (const [at, { pid, log }] of lives.entries()) {
      const count = effects.filter(
        (one) => one.task === task && one.kind === 'begun' && one.pid === pid,
      ).length;
      const wasOver = at > (acceptedIn.get(task) ?? lives.length);
      if (count <= (wasOver ? 0 : (log.worked.get(task) ?? 0))) continue;
      // What is printed of a process may lag behind what it does, when it is killed.
      if (!wasOver && at < lives.length - 1 && count === 1) continue;
      figures.appliedTwice += 1;
      broken(
        `${task} was begun ${count} times in process ${at + 1}${wasOver ? ', after it was accepted' : ''}`,
      );
    }
  }
}

/** Every task is accepted once, and the envelopes of the last process add up. */
function judgeReport({ report, items, findings }: MissionPast, figures: Figures, broken: Broken): void {
  const { tasks, stopReason, receipts, ...rest } = MissionReport.parse(JSON.parse(report));
  if (stopReason !== 'all-accepted') broken(`it came to ${stopReason}`);
  const ids = tasks.map(({ id }) => id).toSorted();
  if (ids.join() !== items.toSorted().join()) broken(`its report has the tasks ${ids.join(', ')}`);
  for (const { id, status, attempts } of tasks)
    if (status !== 'accepted' || attempts.at(-1)?.ended !== 'accepted')
      broken(`its report says of ${id} that it is ${status}, and ended ${attempts.at(-1)?.ended}`);
  if (receipts === undefined) return void broken('its report has no receipts');
  const { holds, inFlight, accepted, handled, rejected, expired, deadLettered } = receipts.envelopes;
  if (!holds) broken('the envelopes of its last run do not add up');
  figures.accepted += accepted;
  figures.handled += handled;
  figures.rejected += rejected;
  figures.expired += expired;
  figures.deadLettered += deadLettered;
  figures.unknown += Math.max(0, accepted - handled - rejected - expired - deadLettered - inFlight);
  note(figures, 'in flight when a mission was over', inFlight);
  const found = findingsOf(rest.findings);
  if (findings !== undefined && found.join('\n') !== findings.join('\n'))
    broken(`it found other things than a run that nobody disturbs: ${found.join('; ')}`);
}

export const findingsOf = (findings: MissionReport['findings']): readonly string[] =>
  findings.map(({ task, rule, file, line }) => `${task} ${rule} ${file}:${line}`).toSorted();
