import { isAlive } from './assign.ts';
import type { Recovery, RecoveryRequest } from './capabilities.ts';

/**
 * Decides about a task that no agent is left for.
 *
 * Agents that declined may have been busy or restarting, so all living agents with its capability are asked once more. After
 * that, or if there is no such agent, a human must decide, and learns who was tried.
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
