import { z } from 'zod';
import type { AgentTier } from '../runtime/protocol/agent-card.ts';
import type { JudgePolicy } from '../runtime/protocol/policy.ts';
import type { TierRoutingConfig } from '../runtime/protocol/routing-config.ts';
import { DEFAULT_TIER_RULES } from './tier-rules.ts';

/** Which upward envelopes take a justification. */
export const EscalationMode = z.enum(['all', 'proposals', 'off']);
export type EscalationMode = z.infer<typeof EscalationMode>;

/** `tiers` says which source tiers must justify themselves. @default mode 'all', the tier table of seed 1 */
export interface EscalationOptions {
  readonly mode?: EscalationMode | undefined;
  readonly tiers?: TierRoutingConfig | undefined;
}

/** A justification of blanks or invisible characters is none. */
const SAYS_SOMETHING = /[^\s\p{C}\p{Z}]/u;

/** Refuses what tier 2 or 3 sends to tier 0 or 1 without a justification: ESCALATION_REQUIRED. Lets granted replies and tool calls pass. */
export function escalation({
  mode = 'all',
  tiers = { rules: DEFAULT_TIER_RULES },
}: EscalationOptions = {}): JudgePolicy {
  const mustJustify = [0, 1, 2, 3].map(
    (tier) => mode !== 'off' && tier >= 2 && requires(tiers, tier as AgentTier),
  );
  const proposalsOnly = mode === 'proposals';
  const policy: JudgePolicy = {
    name: 'escalation',
    judge: ({ sender, recipient, type, isGranted, isTool, justification }) => {
      if (recipient.tier >= 2 || mustJustify[sender.tier] !== true) return undefined;
      if (isGranted || isTool || sender.isSystem || recipient.isSystem) return undefined;
      if (proposalsOnly && type !== 'task-proposal') return undefined;
      if (justification !== undefined && SAYS_SOMETHING.test(justification)) return undefined;
      return {
        code: 'ESCALATION_REQUIRED',
        reason: `${sender.id} of tier ${sender.tier} must give metadata.escalationJustification to write to ${recipient.id} of tier ${recipient.tier}`,
      };
    },
    withConfig: (changed) =>
      changed.tiers === undefined ? policy : escalation({ mode, tiers: changed.tiers }),
  };
  return policy;
}

const requires = ({ rules }: TierRoutingConfig, tier: AgentTier): boolean =>
  rules.some((rule) => rule.sourceTier === tier && rule.requiresEscalationJustification);
