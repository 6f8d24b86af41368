import { memberIn, type SwarmRecord } from '../swarm-record.ts';
import type { SwarmSubTask } from '../swarm-session.ts';
import { hasFailed, isCapable, isReady, type SwarmCard, timesAssigned } from './capable.ts';

/**
 * What is known of the agents at the moment of a decision.
 *
 * - `cards`  whom the owner may see, in registration order.
 * - `loadOf` envelopes that the agent has in hand and waiting, whoever gave them, and what the owner has given it; Infinity
 *            where it takes none.
 * - `heldBy` sub-tasks of this swarm. Both count what was taken away from it and what it has not answered: it may be at
 *            that.
 */
export interface TeamView {
  readonly cards: readonly SwarmCard[];
  readonly loadOf: (agentId: string) => number;
  readonly heldBy: (agentId: string) => number;
}

/** A sub-task and who gets it. */
export interface Assigned {
  readonly subTaskId: string;
  readonly agentId: string;
}

interface Candidate {
  readonly card: SwarmCard;
  readonly registeredAt: number;
  load: number;
  /** Sub-tasks of this swarm that it may still take on. */
  room: number;
}

/**
 * Who gets which sub-task now: of the willing agents that have its capabilities, have not failed it and have room, the
 * least loaded.
 *
 * Sub-tasks that few can do come first, so that these few are not taken by others. Among equally loaded agents: who has
 * had the sub-task least often, then who can do the fewest of those that wait, then who registered first. The same
 * record and view always give the same answer.
 */
export function decideAssignments(record: SwarmRecord, view: TeamView): readonly Assigned[] {
  const { subTasks } = record.session;
  const ready = subTasks.filter((one) => isReady(one, subTasks));
  if (ready.length === 0) return [];
  const candidates = candidatesOf(record, view);
  const open = ready
    .map((subTask) => ({ subTask, able: candidates.filter((one) => mayTake(one, subTask)) }))
    .sort((one, other) => one.able.length - other.able.length);
  const breadth = new Map<Candidate, number>();
  for (const { able } of open) for (const one of able) breadth.set(one, (breadth.get(one) ?? 0) + 1);
  const assigned: Assigned[] = [];
  for (const { subTask, able } of open) {
    const best = able.filter(({ room }) => room > 0).sort(byPreference(subTask, breadth))[0];
    if (best === undefined) continue;
    best.load += 1;
    best.room -= 1;
    assigned.push({ subTaskId: subTask.id, agentId: best.card.id });
  }
  return assigned;
}

const candidatesOf = (record: SwarmRecord, { cards, loadOf, heldBy }: TeamView): Candidate[] =>
  cards.flatMap((card, registeredAt): Candidate[] => {
    if (memberIn(record, card.id)?.standing !== 'willing') return [];
    const room = record.limits.maxPerAgent - heldBy(card.id);
    return [{ card, registeredAt, load: loadOf(card.id), room }];
  });

const mayTake = ({ card }: Candidate, subTask: SwarmSubTask): boolean =>
  isCapable(card, subTask) && !hasFailed(subTask, card.id);

const byPreference =
  (subTask: SwarmSubTask, breadth: ReadonlyMap<Candidate, number>) =>
  (one: Candidate, other: Candidate): number =>
    one.load - other.load ||
    timesAssigned(subTask, one.card.id) - timesAssigned(subTask, other.card.id) ||
    (breadth.get(one) ?? 0) - (breadth.get(other) ?? 0) ||
    one.registeredAt - other.registeredAt;
