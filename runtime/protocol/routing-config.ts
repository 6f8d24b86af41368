import { z } from 'zod';
import { AgentTier } from './agent-card.ts';

/** Which tiers a tier may write to, and whether writing to tier 0 or 1 takes a justification. */
export const TierRule = z.strictObject({
  sourceTier: AgentTier,
  allowedTargetTiers: z.array(AgentTier).readonly(),
  requiresEscalationJustification: z.boolean(),
});
export type TierRule = z.infer<typeof TierRule>;

/** The tier table (seed 1): one rule for each source tier. A tier without a rule may write to nobody. */
export const TierRoutingConfig = z.strictObject({
  rules: z
    .array(TierRule)
    .readonly()
    .superRefine((rules, ctx) => {
      rules.forEach(({ sourceTier }, index) => {
        if (rules.findIndex((rule) => rule.sourceTier === sourceTier) === index) return;
        const message = 'one rule a source tier';
        ctx.addIssue({ code: 'custom', path: [index, 'sourceTier'], message, input: sourceTier });
      });
    }),
});
export type TierRoutingConfig = z.infer<typeof TierRoutingConfig>;

/**
 * What a sandboxed agent may reach beside its own sandbox (seed 1).
 *
 * - `crossSandboxAllowList` agents that every sandbox may reach.
 * - `allow`                 agents that one sandbox may reach, by sandbox id.
 */
export const SandboxRoutingConfig = z.strictObject({
  enforced: z.boolean(),
  crossSandboxAllowList: z.array(z.string()).readonly(),
  allow: z.record(z.string(), z.array(z.string()).readonly()).optional(),
});
export type SandboxRoutingConfig = z.infer<typeof SandboxRoutingConfig>;

/** The part of a system's policies that can be replaced while it runs. */
export const RoutingConfig = z.strictObject({
  tiers: TierRoutingConfig.optional(),
  sandbox: SandboxRoutingConfig.optional(),
});
export type RoutingConfig = z.infer<typeof RoutingConfig>;

/** Enforced, and nobody may leave a sandbox. */
export const CLOSED_SANDBOXES: SandboxRoutingConfig = { enforced: true, crossSandboxAllowList: [] };
