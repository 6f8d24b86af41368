import { describe, expect, it } from 'vitest';
import { escalation } from '../../../policies/escalation.ts';
import { DEFAULT_TIER_RULES } from '../../../policies/tier-rules.ts';
import { between, codeOf, requestOf, SYSTEM, TIERS } from './judge-request.ts';

describe('escalation (N-11.2, N-E05, C-07)', () => {
  const upward = between(3, 1);

  it('asks tiers 2 and 3 for a reason to write to tiers 0 and 1', () => {
    for (const source of TIERS) {
      for (const target of TIERS) {
        const isUpward = source >= 2 && target <= 1;
        expect(codeOf(escalation(), between(source, target))).toBe(
          isUpward ? 'ESCALATION_REQUIRED' : undefined,
        );
        expect(
          codeOf(escalation(), { ...between(source, target), justification: 'blocked' }),
        ).toBeUndefined();
      }
    }
  });

  it('takes an empty or blank reason for none, and names the field', () => {
    for (const justification of ['', ' ', '\t\n', '\u00a0\u2003', '\u200b\u2060\ufeff', '\u0000'])
      expect(escalation().judge(requestOf({ ...upward, justification }))).toEqual({
        code: 'ESCALATION_REQUIRED',
        reason: 'sender of tier 3 must give metadata.escalationJustification to write to recipient of tier 1',
      });
    expect(codeOf(escalation(), { ...upward, justification: '\u200b it is down' })).toBeUndefined();
  });

  it('minds proposals alone, or nothing, when told so', () => {
    expect(codeOf(escalation({ mode: 'proposals' }), { ...upward, type: 'request' })).toBeUndefined();
    expect(codeOf(escalation({ mode: 'proposals' }), { ...upward, type: 'task-proposal' })).toBe(
      'ESCALATION_REQUIRED',
    );
    expect(codeOf(escalation({ mode: 'off' }), { ...upward, type: 'task-proposal' })).toBeUndefined();
  });

  it('follows a table in which a tier needs no reason', () => {
    const rules = DEFAULT_TIER_RULES.map((rule) => ({
      ...rule,
      requiresEscalationJustification: rule.sourceTier === 2,
    }));
    expect(codeOf(escalation({ tiers: { rules } }), between(2, 0))).toBe('ESCALATION_REQUIRED');
    expect(codeOf(escalation({ tiers: { rules } }), between(3, 0))).toBeUndefined();
  });

  it('exempts granted replies, calls of tools and the system', () => {
    expect(codeOf(escalation(), { ...upward, isTool: true })).toBeUndefined();
    expect(codeOf(escalation(), { ...upward, isGranted: true })).toBeUndefined();
    expect(codeOf(escalation(), { ...upward, recipient: SYSTEM })).toBeUndefined();
  });
});
