import { z } from 'zod';
import type { AdmissionRule } from '../../../runtime/protocol/admission.ts';
import type { Verdict } from '../../../runtime/protocol/policy.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { TtlCache } from '../../admit/ttl-cache.ts';
import { trustScore } from '../chain/trust.ts';
import type { XprAccounts } from '../chain/xpr-accounts.ts';

const PREFIX = 'xpr:';

const Options = z.strictObject({
  minKycLevel: z.int().min(0).max(3).default(0),
  minTrustScore: z.number().min(0).max(100).default(0),
  ttlMs: z.number().positive().default(300_000),
});
/**
 * Options of `trustGate`.
 *
 * - `minKycLevel`   lowest KYC level of the agent's owner, 0 to 3; 0 checks nothing. @default 0
 * - `minTrustScore` lowest trust score, 0 to 100; 0 checks nothing. @default 0
 * - `ttlMs`         how long an account's record is cached. @default 5 minutes
 */
export type TrustGateOptions = z.input<typeof Options>;

/**
 * A rule that admits XPR accounts only if they are registered as active agents, with enough KYC and trust (X-18..X-21). It
 * refuses with NOT_PERMITTED and the reason. Anonymous callers pass if both minimums are 0 (C-08). Principals that are no XPR
 * accounts pass.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export function trustGate(
  options: TrustGateOptions,
  { clock, accounts }: { clock: Pick<Clock, 'now'>; accounts: Pick<XprAccounts, 'agent'> },
): AdmissionRule {
  const { minKycLevel, minTrustScore, ttlMs } = parseOptions(Options, options, 'trustGate');
  const agents = new TtlCache(clock, { ttlMs, capacity: 10_000 }, (account) => accounts.agent(account));
  const no = (reason: string): Verdict => ({ code: 'NOT_PERMITTED', reason });
  return {
    name: 'trust-gate',
    admit: async ({ id, kind }) => {
      if (kind === 'anonymous')
        return minKycLevel > 0 || minTrustScore > 0 ? no('who is anonymous is not trusted') : undefined;
      if (!id.startsWith(PREFIX)) return undefined;
      const agent = await agents.get(id.slice(PREFIX.length));
      if (agent === undefined) return no('the account is registered as no agent');
      if (!agent.isActive) return no('the agent is not active');
      if (agent.kycLevel < minKycLevel)
        return no(`its owner is identified to level ${agent.kycLevel}, expected at least ${minKycLevel}`);
      const score = trustScore(agent, clock.now());
      return score < minTrustScore
        ? no(`its trust score is ${score}, expected at least ${minTrustScore}`)
        : undefined;
    },
  };
}
