import { z } from 'zod';
import { parseOptions } from '../runtime/protocol/parse-options.ts';
import type { JudgePolicy } from '../runtime/protocol/policy.ts';
import {
  SandboxRoutingConfig,
  TierRoutingConfig,
  type TierRule,
} from '../runtime/protocol/routing-config.ts';
import { budget } from './budget.ts';
import { CustomPolicy, loadCustomPolicy } from './custom-policy.ts';
import { deadline } from './deadline.ts';
import { EscalationMode, escalation } from './escalation.ts';
import { pathGuard } from './path-guard.ts';
import { sandbox } from './sandbox.ts';
import { schemaVersion } from './schema-version.ts';
import { tierRules } from './tier-rules.ts';

export { DEFAULT_TIER_RULES } from './tier-rules.ts';

/**
 * The rules of a system, as plain data.
 *
 * - `tiers`      the tier table, or its rules alone. @default DEFAULT_TIER_RULES
 * - `sandbox`    @default enforced, with empty allow lists
 * - `escalation` which upward envelopes take a justification. @default 'all'
 * - `maxHops`    how long a delegation path may get. @default 16
 * - `custom`     rules of the user, judged after all others, in this order.
 */
export const PolicyOptions = z.strictObject({
  tiers: z
    .preprocess((tiers) => (Array.isArray(tiers) ? { rules: tiers } : tiers), TierRoutingConfig.optional())
    .optional(),
  sandbox: SandboxRoutingConfig.optional(),
  escalation: EscalationMode.optional(),
  maxHops: z.int().positive().optional(),
  custom: z.array(CustomPolicy).readonly().optional(),
});
export type PolicyOptions = Omit<z.input<typeof PolicyOptions>, 'tiers'> & {
  readonly tiers?: TierRoutingConfig | readonly TierRule[] | undefined;
};

/**
 * The rules of the runtime in the order they are judged: the cheap ones that make the rest pointless come first.
 *
 * Fails with INVALID_OPTIONS naming field and value. Takes no `custom` rules: `loadPolicies` does.
 */
export function defaultPolicies(options: Omit<PolicyOptions, 'custom'> = {}): readonly JudgePolicy[] {
  const { tiers, sandbox: sandboxes, escalation: mode, maxHops } = parseOptions(BuiltIn, options, 'policies');
  return [
    schemaVersion(),
    deadline(),
    budget(),
    pathGuard(maxHops),
    sandbox(sandboxes),
    tierRules(tiers),
    escalation({ mode, tiers }),
  ];
}

/** `defaultPolicies`, then the user's own. Fails with INVALID_OPTIONS, or MODULE_INVALID for a rule it cannot load. */
export async function loadPolicies(options: PolicyOptions = {}): Promise<readonly JudgePolicy[]> {
  const { custom = [] } = parseOptions(PolicyOptions, options, 'policies');
  const { custom: _custom, ...builtIn } = options;
  return [...defaultPolicies(builtIn), ...(await Promise.all(custom.map(loadCustomPolicy)))];
}

const BuiltIn = PolicyOptions.omit({ custom: true });
