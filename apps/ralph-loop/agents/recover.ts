import { isAlive } from './assign.ts';
import type { Recovery, RecoveryRequest } from './capabilities.ts';

/**
 * SUN's other job: a task that no agent could do.
 *
 * Who declined may have been busy, or about to be restarted: as long as somebody alive offers what it takes, everybody is
 * asked once more. After that, and where nobody alive offers it, a human must decide, and is told who was tried.
 */
export function recoverTask({ task, why, tried, roster, isSecondTime }: RecoveryRequest): Recovery {
  const able = roster.filter((one) => one.capabilities.includes(task.capability) && isAlive(one));
  if (able.length > 0 && !isSecondTime) {
    return { decision: 'again', reason: `${names(able)} may be asked once more` };
  }
  const history = tried.map(({ agent, reason }) => `${agent}: ${reason}`).join('; ');
  return {
    decision: 'human',
    reason: `${why}${history === '' ? '' : `; tried ${history}`}; a human must decide`,
  };
}

const names = (agents: readonly { readonly id: string }[]): string => agents.map(({ id }) => id).join(', ');
