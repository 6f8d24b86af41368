import type { TaskContext } from './task-context.ts';
import { isOver, type TaskStatus } from './task-status.ts';

/** The state of a task at one moment. */
export interface TaskView {
  readonly status: TaskStatus;
  readonly context: TaskContext;
}

/** A sentence about why the loop goes on: what is in hand first, then what waits. */
export function whyItGoesOn(
  tasks: readonly TaskView[],
  { assigner, gate }: { assigner: string; gate: string },
): string {
  const parts = [
    listed(tasks, 'working', ({ item, assignee }) => `${assignee?.agent ?? 'a swarm'} works on ${item.id}`),
    listed(tasks, 'judging', ({ item }) => `${gate} judges ${item.id}`),
    listed(tasks, 'checking', ({ item }) => `the gates of ${item.id} are run`),
    listed(tasks, 'reviewing', ({ item }) => `${item.code?.reviewers.join(', ')} may veto ${item.id}`),
    listed(tasks, 'merging', ({ item }) => `${item.id} is merged`),
    listed(tasks, 'held', ({ item }) => `${item.id} waits until somebody approves it`),
    listed(tasks, 'resting', ({ item, why }) => `${item.id} rests: ${why}`),
    listed(
      tasks,
      'proposed',
      ({ item, proposedTo }) => `${proposedTo?.agent} is asked to take ${item.id} on`,
    ),
    listed(tasks, 'recovering', ({ item }) => `${assigner} is asked what is to become of ${item.id}`),
    listed(tasks, 'ready', ({ item }) => `${item.id} is to be given out`),
    listed(
      tasks,
      'waiting',
      ({ item }) => `${item.id} waits for ${openDependencies(tasks, [...item.dependsOn, ...item.after])}`,
    ),
  ];
  return parts.filter((part) => part !== '').join('; ') || 'nothing is left to do';
}

const MAX_NAMED = 4;

function listed(
  tasks: readonly TaskView[],
  status: TaskStatus,
  sentence: (task: TaskContext) => string,
): string {
  const found = tasks.filter((task) => task.status === status).map((task) => task.context);
  const named = found.slice(0, MAX_NAMED).map(sentence);
  const more = found.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more ${status}`] : [])].join(', ');
}

function openDependencies(tasks: readonly TaskView[], ids: readonly string[]): string {
  const open = tasks.filter(({ status, context }) => ids.includes(context.item.id) && !isOver(status));
  return open.map(({ context }) => context.item.id).join(' and ') || 'its turn';
}
