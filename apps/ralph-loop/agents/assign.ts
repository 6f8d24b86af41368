import {
  type Assignment,
  type Bid,
  type Candidate,
  loadOf,
  MAX_BIDS,
  type OpenTask,
} from './capabilities.ts';

/**
 * Assigns tasks to agents, the most urgent first.
 *
 * A task goes to the living agent with its capability that has the least to do, tasks assigned here included; among equals,
 * to the first by id. Agents that have declined it are skipped. A task without an agent is returned with the reason; where there
 * was a choice, who was compared and why that one was chosen.
 */
export function assignTasks(tasks: readonly OpenTask[], roster: readonly Candidate[]): Assignment {
  const load = new Map(roster.map((one) => [one.id, loadOf(one)]));
  const result: Assignment = { assignments: [], unassignable: [] };
  for (const task of [...tasks].sort(byUrgency)) {
    const { id: taskId, capability, declined = [] } = task;
    const able = roster.filter(({ capabilities }) => capabilities.includes(capability));
    const willing = able
      .filter((one) => isAlive(one) && !declined.includes(one.id))
      .sort((a, b) => byLoad(load, a, b));
    const [chosen] = willing;
    if (chosen === undefined) result.unassignable.push({ taskId, reason: whyNobody(task, able) });
    else {
      const others = able.filter((one) => !willing.includes(one));
      const bids = [
        ...willing.map((one) => bidOf(load, one)),
        ...others.map((one) => ({ ...bidOf(load, one), out: whyOut(task, one) })),
      ];
      const choice = bids.length > 1 ? { bids: bids.slice(0, MAX_BIDS), reason: whyChosen(task, bids) } : {};
      load.set(chosen.id, (load.get(chosen.id) ?? 0) + 1);
      result.assignments.push({ taskId, agent: chosen.id, ...choice });
    }
  }
  return result;
}

/** Whether an agent may still answer: one that is failed, stopped or parked does not come back by itself. */
export const isAlive = ({ status }: Candidate): boolean =>
  status !== 'failed' && status !== 'stopped' && status !== 'parked';

const urgency = ({ priority = Number.MAX_VALUE }: OpenTask): number => priority;
const byUrgency = (a: OpenTask, b: OpenTask): number => Math.sign(urgency(a) - urgency(b));

function byLoad(load: ReadonlyMap<string, number>, a: Candidate, b: Candidate): number {
  return (load.get(a.id) ?? 0) - (load.get(b.id) ?? 0) || (a.id < b.id ? -1 : 1);
}

const bidOf = (load: ReadonlyMap<string, number>, { id }: Candidate): Bid => ({
  agent: id,
  load: load.get(id) ?? 0,
});

/** Of the bids of a task the first is chosen, and those that are not out come before the others. */
function whyChosen({ capability }: OpenTask, bids: readonly Bid[]): string {
  const open = bids.filter(({ out }) => out === undefined);
  if (open.length === 1) return `nobody else is left who offers ${capability}`;
  const equals = open.filter((bid) => bid.load === open[0]?.load).length;
  return equals === 1
    ? 'it has the least to do'
    : `${equals} have as little to do, and it is the first by name`;
}

const whyOut = ({ declined = [] }: OpenTask, { id, status }: Candidate): string =>
  declined.includes(id) ? 'declined' : status;

function whyNobody(task: OpenTask, able: readonly Candidate[]): string {
  const { capability } = task;
  if (able.length === 0) return `nobody in the team offers ${capability}`;
  const each = able.map((one) => `${one.id} (${whyOut(task, one)})`).join(', ');
  return `nobody is left who offers ${capability}: ${each}`;
}
