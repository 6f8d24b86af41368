import type { SwarmSubTask } from '../swarm-session.ts';

/** What decisions look at of a card: which of the swarm's required capabilities it has. */
export interface SwarmCard {
  readonly id: string;
  readonly capabilities: ReadonlySet<string>;
}

/** Says whether the card has every capability that the sub-task requires. */
export const isCapable = (
  { capabilities }: SwarmCard,
  { requiredCapabilities }: Pick<SwarmSubTask, 'requiredCapabilities'>,
): boolean => requiredCapabilities.every((wanted) => capabilities.has(wanted));

/** So often an assignment may be lost between the same two. */
const MAX_LOST = 2;

/**
 * Says whether the agent has shown that it cannot do the sub-task: it failed it, or stalled over it. An assignment that
 * was given back by leaving says nothing of the kind, nor does one that was lost on the way, unless that happens again.
 */
export function hasFailed({ assignments }: SwarmSubTask, agentId: string): boolean {
  const own = assignments.filter((one) => one.agentId === agentId);
  if (own.some(({ end }) => end === 'failed' || end === 'stalled')) return true;
  // One that was lost with a coordinator has no error.
  return own.filter(({ end, error }) => end === 'lost' && error !== undefined).length >= MAX_LOST;
}

/** How often the agent has had the sub-task. */
export const timesAssigned = ({ assignments }: SwarmSubTask, agentId: string): number =>
  assignments.filter((one) => one.agentId === agentId).length;

/** Says whether everything that the sub-task depends on is completed. */
export const isReady = (subTask: SwarmSubTask, subTasks: readonly SwarmSubTask[]): boolean =>
  subTask.status === 'pending' &&
  subTask.dependsOn.every((wanted) =>
    subTasks.some(({ id, status }) => id === wanted && status === 'completed'),
  );
