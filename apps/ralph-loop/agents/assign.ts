import type { Assignment, Candidate, OpenTask } from './capabilities.ts';

/**
 * SUN's job: who gets which task, the most urgent first.
 *
 * Of the agents alive that offer what a task needs, the one with the least before it gets it, what it is given here
 * included; of equals the first by id. Nobody is given what it has declined. A task that nobody can do is named with the
 * reason.
 */
export function assignTasks(tasks: readonly OpenTask[], roster: readonly Candidate[]): Assignment {
  const load = new Map(roster.map(({ id, waiting }) => [id, waiting]));
  const result: Assignment = { assignments: [], unassignable: [] };
  for (const task of [...tasks].sort(byUrgency)) {
    const { id: taskId, capability, declined = [] } = task;
    const able = roster.filter(({ capabilities }) => capabilities.includes(capability));
    const willing = able.filter((one) => isAlive(one) && !declined.includes(one.id));
    const chosen = willing.sort((a, b) => byLoad(load, a, b))[0];
    if (chosen === undefined) result.unassignable.push({ taskId, reason: whyNobody(task, able) });
    else {
      load.set(chosen.id, (load.get(chosen.id) ?? 0) + 1);
      result.assignments.push({ taskId, agent: chosen.id });
    }
  }
  return result;
}

/** One that failed, was stopped or is parked does not come back by itself. */
export const isAlive = ({ status }: Candidate): boolean =>
  status !== 'failed' && status !== 'stopped' && status !== 'parked';

const urgency = ({ priority = Number.MAX_VALUE }: OpenTask): number => priority;
const byUrgency = (a: OpenTask, b: OpenTask): number => Math.sign(urgency(a) - urgency(b));

function byLoad(load: ReadonlyMap<string, number>, a: Candidate, b: Candidate): number {
  return (load.get(a.id) ?? 0) - (load.get(b.id) ?? 0) || (a.id < b.id ? -1 : 1);
}

function whyNobody({ capability, declined = [] }: OpenTask, able: readonly Candidate[]): string {
  if (able.length === 0) return `nobody in the team offers ${capability}`;
  const each = able
    .map(({ id, status }) => `${id} (${declined.includes(id) ? 'declined' : status})`)
    .join(', ');
  return `nobody is left who offers ${capability}: ${each}`;
}
