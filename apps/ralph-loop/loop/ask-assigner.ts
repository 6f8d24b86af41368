import type { RosterRow } from 'orrery';
import { missionAssign } from '../agents/capabilities.ts';
import { type Chosen, chosenOf } from './choice.ts';
import { lostAnswer } from './lost-answer.ts';
import { askTimeoutMs, type RunScope } from './run-scope.ts';
import type { Declined, TaskEvent } from './task-context.ts';
import { isAlive, offers } from './team.ts';
import type { WorkItem } from './work-item.ts';

/** A task to assign, and the agents that have declined it. */
export interface Unassigned {
  readonly item: WorkItem;
  readonly declined: readonly Declined[];
}

/** The event for each task that the assigner was asked about. */
export type Assignments = ReadonlyMap<string, TaskEvent>;

/** Asks the assigner who gets the tasks of `batch`. It never rejects; if the assigner dies it is asked once more. */
export async function askAssigner(run: RunScope, batch: readonly Unassigned[]): Promise<Assignments> {
  try {
    return await assignments(run, batch);
  } catch (error) {
    const first = lostAnswer(error);
    if (first.isLasting || run.signal.aborted) return nobodyDecides(run, batch, first.reason);
  }
  return assignments(run, batch).catch((error: unknown) =>
    nobodyDecides(run, batch, lostAnswer(error).reason),
  );
}

async function assignments(run: RunScope, batch: readonly Unassigned[]): Promise<Assignments> {
  run.tell({ type: 'assignment.asked', agent: run.assigner, tasks: batch.map(({ item }) => item.id) });
  const roster = (await run.team.roster()).map((row) => ({ ...row, inHand: run.inHandOf(row.id) }));
  const open = batch.map(({ item, declined }) => ({ item, out: outOf(run, { item, declined }, roster) }));
  const answer = await run.team.loop.ask(
    { agent: run.assigner, capability: missionAssign },
    { tasks: open.map(forAssigner), roster },
    { timeoutMs: askTimeoutMs(run), signal: run.signal, correlationId: run.mission, whenFull: 'park' },
  );
  const assigned = new Map(answer.assignments.map((each) => [each.taskId, each]));
  const reasons = new Map(answer.unassignable.map(({ taskId, reason }) => [taskId, reason]));
  const atMs = run.clock.now();
  return new Map(
    open.map(({ item, out }) => {
      const named = assigned.get(item.id);
      const row = roster.find(({ id }) => id === named?.agent);
      if (named === undefined || row === undefined || !isAlive(row) || !offers(row, item.capability))
        return [item.id, missing(run, item, named?.agent, reasons.get(item.id))];
      const able = roster.filter((one) => offers(one, item.capability));
      return [item.id, given(run, row, { choice: chosenOf(named, { able, out }), atMs })];
    }),
  );
}

/** Why agents must not get a task that they could do, by their ids. */
function outOf(
  { limited, clock }: RunScope,
  { item, declined }: Unassigned,
  roster: readonly RosterRow[],
): ReadonlyMap<string, string> {
  return new Map([
    ...declined.map(({ agent, reason }) => [agent, `declined: ${reason}`] as const),
    ...limited
      .toSkip(roster, item.capability, clock.now())
      .map((agent) => [agent, 'takes no more work for now'] as const),
  ]);
}

function forAssigner({
  item: { id, title, capability, priority },
  out,
}: {
  readonly item: WorkItem;
  readonly out: ReadonlyMap<string, string>;
}) {
  const skipped = [...out.keys()];
  return {
    id,
    title,
    capability,
    ...(Number.isFinite(priority) ? { priority } : {}),
    ...(skipped.length > 0 ? { declined: skipped } : {}),
  };
}

const given = (
  run: RunScope,
  row: RosterRow,
  { choice, atMs }: { readonly choice: Chosen; readonly atMs: number },
): TaskEvent => ({
  type: 'agent.assigned',
  to: { agent: row.id, place: row.place },
  choice,
  why: `${run.assigner} gave it to ${row.id}${choice.reason === undefined ? '' : `: ${choice.reason}`}`,
  atMs,
});

/** The event for a task without a usable agent: one without the capability would only refuse later. */
function missing(run: RunScope, { capability }: WorkItem, named?: string, reason?: string): TaskEvent {
  if (named === undefined)
    return { type: 'agent.missing', why: reason ?? `${run.assigner} said nothing about it` };
  return {
    type: 'agent.missing',
    why: `${run.assigner} named ${named}, who does not offer ${capability} now`,
  };
}

const nobodyDecides = (run: RunScope, batch: readonly Unassigned[], reason: string): Assignments =>
  new Map(
    batch.map(({ item }) => [
      item.id,
      { type: 'assigner.lost', why: `${run.assigner} could not assign it: ${reason}` },
    ]),
  );
