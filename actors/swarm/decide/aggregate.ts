import type { SwarmFault, SwarmSubTask } from '../swarm-session.ts';

/** Where the sub-tasks of an active swarm stand together: undefined while there is something to be done. */
export function decideEnding(
  subTasks: readonly SwarmSubTask[],
  onFailure: 'finish' | 'stop',
): 'completed' | 'failed' | undefined {
  const hasFailed = subTasks.some(({ status }) => status === 'failed');
  if (hasFailed && onFailure === 'stop') return 'failed';
  if (!subTasks.every(({ status }) => status === 'completed' || status === 'failed')) return undefined;
  return hasFailed ? 'failed' : 'completed';
}

/** The results of the completed sub-tasks by their ids. */
export const aggregate = (subTasks: readonly SwarmSubTask[]): Record<string, unknown> =>
  Object.fromEntries(
    subTasks.filter(({ status }) => status === 'completed').map(({ id, result }) => [id, result]),
  );

/** Why a swarm failed: the faults of its sub-tasks in one sentence, with the code of the first. */
export function aggregateFaults(subTasks: readonly SwarmSubTask[]): SwarmFault | undefined {
  const faults = subTasks.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const [first] = faults;
  if (first === undefined) return undefined;
  const others = faults.length === 1 ? '' : `; and ${faults.length - 1} more`;
  return { code: first.code, message: `${first.message}${others}` };
}
