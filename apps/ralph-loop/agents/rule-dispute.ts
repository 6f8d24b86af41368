import type { Dispute, Ruling } from './capabilities.ts';

/**
 * SUN's word when an agent finds again what MERCURY refuses: who checks against the files is right about each finding, so
 * they are withdrawn; an agent that is wrong more often than right is not believed in the rest either.
 */
export function ruleDispute({ agent, approved, disputed }: Dispute): Ruling {
  const all = approved + disputed.length;
  const share = `${disputed.length} of ${all} findings of ${agent} do not hold`;
  return disputed.length * 2 > all
    ? { ruling: 'give-up', reason: `${share}: the rest is not to be trusted` }
    : { ruling: 'withdraw', reason: `${share}: they are withdrawn` };
}
