import { describe, expect, it } from 'vitest';
import { DEFAULT_TIER_RULES, tierRules } from '../../../policies/tier-rules.ts';
import { between, codeOf, SYSTEM, TIERS } from './judge-request.ts';

describe('tier-rules (N-4.5, N-11.3, N-D17, N-E03, C-06, C-31)', () => {
  it('is the table of the seed unless told otherwise', () => {
    expect(DEFAULT_TIER_RULES).toEqual([
      { sourceTier: 0, allowedTargetTiers: [0, 1, 2, 3], requiresEscalationJustification: false },
      { sourceTier: 1, allowedTargetTiers: [0, 1], requiresEscalationJustification: false },
      { sourceTier: 2, allowedTargetTiers: [0, 1, 2], requiresEscalationJustification: true },
      { sourceTier: 3, allowedTargetTiers: [0, 1, 2, 3], requiresEscalationJustification: true },
    ]);
    const refused = TIERS.flatMap((source) =>
      TIERS.filter((target) => codeOf(tierRules(), between(source, target)) === 'TIER_VIOLATION').map(
        (target) => [source, target],
      ),
    );
    expect(refused).toEqual([
      [1, 2],
      [1, 3],
      [2, 3],
    ]);
  });

  it('lets a tier without a rule write to nobody', () => {
    expect(codeOf(tierRules({ rules: [] }), between(0, 3))).toBe('TIER_VIOLATION');
  });

  it('exempts granted replies, calls of tools, the system, and broadcasts of tier 0 alone', () => {
    const nobody = tierRules({ rules: [] });
    expect(codeOf(tierRules(), { ...between(1, 2), isGranted: true })).toBeUndefined();
    expect(codeOf(nobody, { ...between(1, 2), isTool: true })).toBeUndefined();
    expect(codeOf(nobody, { ...between(1, 2), sender: SYSTEM })).toBeUndefined();
    expect(codeOf(nobody, { ...between(1, 2), recipient: SYSTEM })).toBeUndefined();
    expect(codeOf(nobody, { ...between(0, 3), isBroadcast: true })).toBeUndefined();
    expect(codeOf(nobody, { ...between(1, 3), isBroadcast: true })).toBe('TIER_VIOLATION');
  });

  it('gives the same rule under another table, and leaves the old one as it was', () => {
    const before = tierRules();
    const after = before.withConfig?.({ tiers: { rules: [] } });
    expect(codeOf(before, between(0, 0))).toBeUndefined();
    expect(after && codeOf(after, between(0, 0))).toBe('TIER_VIOLATION');
    expect(before.withConfig?.({ sandbox: { enforced: false, crossSandboxAllowList: [] } })).toBe(before);
  });
});
