import type { Dispute, Ruling } from './capabilities.ts';

/**
 * Decides a dispute. Disputed findings are withdrawn, because MERCURY checks against the files. If they are more than half,
 * the agent's other findings are dropped too.
 */
export function ruleDispute({ agent, approved, disputed }: Dispute): Ruling {
  const all = approved + disputed.length;
  const share = `${disputed.length} of ${all} findings of ${agent} do not hold`;
  return disputed.length * 2 > all
    ? { ruling: 'give-up', reason: `${share}: the rest is not to be trusted` }
    : { ruling: 'withdraw', reason: `${share}: they are withdrawn` };
}
