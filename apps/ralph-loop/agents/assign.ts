import type { Assignment, Candidate, OpenTask } from './capabilities.ts';

/**
 * Assigns tasks to agents, the most urgent first.
 *
 * A task goes to the living agent with its capability that has the least to do, tasks assigned here included; among equals,
 * to the first by id. Agents that have declined it are skipped. A task without an agent is returned with the reason.
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

/** Whether an agent may still answer: one that is failed, stopped or parked does not come back by itself. */
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
