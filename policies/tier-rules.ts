import type { AgentTier } from '../runtime/protocol/agent-card.ts';
import type { JudgePolicy } from '../runtime/protocol/policy.ts';
import type { TierRoutingConfig, TierRule } from '../runtime/protocol/routing-config.ts';

/** The tiers that each tier may write to, as seed 1 has them. */
export const DEFAULT_TIER_RULES: readonly TierRule[] = [
  { sourceTier: 0, allowedTargetTiers: [0, 1, 2, 3], requiresEscalationJustification: false },
  { sourceTier: 1, allowedTargetTiers: [0, 1], requiresEscalationJustification: false },
  { sourceTier: 2, allowedTargetTiers: [0, 1, 2], requiresEscalationJustification: true },
  { sourceTier: 3, allowedTargetTiers: [0, 1, 2, 3], requiresEscalationJustification: true },
];

/** Refuses what the tier table does not allow: TIER_VIOLATION. Not for granted replies, calls of tools, and tier 0's broadcasts. */
export function tierRules(config: TierRoutingConfig = { rules: DEFAULT_TIER_RULES }): JudgePolicy {
  const reach = reachBySource(config.rules);
  const policy: JudgePolicy = {
    name: 'tier-rules',
    judge: ({ sender, recipient, isGranted, isBroadcast, isTool }) => {
      if (((reach[sender.tier] ?? 0) & (1 << recipient.tier)) !== 0) return undefined;
      if (isGranted || isTool || sender.isSystem || recipient.isSystem) return undefined;
      if (isBroadcast && sender.tier === 0) return undefined;
      return {
        code: 'TIER_VIOLATION',
        reason: `${sender.id} of tier ${sender.tier} may not write to ${recipient.id} of tier ${recipient.tier}`,
      };
    },
    withConfig: (changed) => (changed.tiers === undefined ? policy : tierRules(changed.tiers)),
  };
  return policy;
}

/** The tiers that each tier may write to, one bit a tier. */
function reachBySource(rules: readonly TierRule[]): readonly number[] {
  const reach = [0, 0, 0, 0];
  for (const { sourceTier, allowedTargetTiers } of rules) reach[sourceTier] = bitsOf(allowedTargetTiers);
  return reach;
}

const bitsOf = (tiers: readonly AgentTier[]): number =>
  tiers.reduce((bits: number, tier) => bits | (1 << tier), 0);
