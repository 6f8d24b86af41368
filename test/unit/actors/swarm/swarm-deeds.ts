import type { SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import type { Deed } from './scripted-reach.ts';

export const LIMITS = { recruitMs: 50, leaseMs: 100, graceMs: 100 };

export const sleeps: Deed = { does: 'sleeps' };
export const answers = (afterMs: number): Deed => ({ does: 'answers', afterMs });
export const fails = (code: 'ACTOR_DIED' | 'THREAD_DIED' | 'REFUSED' | 'NOT_HERE', afterMs = 10) => ({
  does: 'fails' as const,
  afterMs,
  code,
});

/** Who had the sub-task, and how that ended, in order. */
export const ends = ({ assignments }: Pick<SwarmSubTask, 'assignments'>) =>
  assignments.map(({ agentId, end }) => `${agentId} ${end}`);

/** What the act throws; it must. */
export const refusalOf = (act: () => unknown): { code: string; message: string } => {
  try {
    act();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('It was not refused');
};
