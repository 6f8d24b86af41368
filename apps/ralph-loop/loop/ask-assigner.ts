import type { RosterRow } from 'orrery';
import { missionAssign } from '../agents/capabilities.ts';
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
  const roster = await run.team.roster();
  const answer = await run.team.loop.ask(
    { agent: run.assigner, capability: missionAssign },
    { tasks: batch.map((each) => forAssigner(run, each, roster)), roster: [...roster] },
    { timeoutMs: askTimeoutMs(run), signal: run.signal, correlationId: run.mission, whenFull: 'park' },
  );
  const agents = new Map(answer.assignments.map(({ taskId, agent }) => [taskId, agent]));
  const reasons = new Map(answer.unassignable.map(({ taskId, reason }) => [taskId, reason]));
  const atMs = run.clock.now();
  return new Map(
    batch.map(({ item }) => {
      const named = agents.get(item.id);
      const row = roster.find(({ id }) => id === named);
      const mayWork = row !== undefined && isAlive(row) && offers(row, item.capability);
      return [item.id, mayWork ? given(run, row, atMs) : missing(run, item, named, reasons.get(item.id))];
    }),
  );
}

function forAssigner(
  { limited, clock }: RunScope,
  { item: { id, title, capability, priority }, declined }: Unassigned,
  roster: readonly RosterRow[],
) {
  const skipped = [...declined.map(({ agent }) => agent), ...limited.toSkip(roster, capability, clock.now())];
  return {
    id,
    title,
    capability,
    ...(Number.isFinite(priority) ? { priority } : {}),
    ...(skipped.length > 0 ? { declined: skipped } : {}),
  };
}

const given = (run: RunScope, row: RosterRow, atMs: number): TaskEvent => ({
  type: 'agent.assigned',
  to: { agent: row.id, place: row.place },
  why: `${run.assigner} gave it to ${row.id}`,
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
