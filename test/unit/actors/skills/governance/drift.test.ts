import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Drifting, driftOf } from '../../../../../actors/skills/governance/drift.ts';
import { policyVersion } from '../../../../../actors/skills/governance/policy.ts';
import type { ResolvedPolicy } from '../../../../../actors/skills/governance/resolve-policies.ts';
import {
  NewSuppression,
  type PolicyViolation,
  type Suppression,
} from '../../../../../actors/skills/governance/suppression.ts';

const MANDATORY: ResolvedPolicy = { id: 'p', name: 'p', mode: 'mandatory', mandatoryAt: 'team', rules: [] };
const OPTIONAL: ResolvedPolicy = { id: 'q', name: 'q', mode: 'optional', rules: [] };
const NOW = 1_000;

const violation = (
  severity: PolicyViolation['severity'],
  more: Partial<PolicyViolation> = {},
): PolicyViolation => ({
  policyId: 'p',
  ruleId: 'r',
  severity,
  message: 'There is left-pad',
  ...more,
});
const suppression = (more: Partial<Suppression> = {}): Suppression => ({
  id: 's',
  policyId: 'p',
  reason: 'until the move',
  expiresAt: NOW + 1,
  author: 'ada',
  role: 'tech-lead',
  createdAt: 0,
  ...more,
});
const drift = (more: Partial<Drifting>) =>
  driftOf({
    policies: [MANDATORY],
    violations: [],
    suppressions: [],
    autoSuppressInfo: false,
    now: NOW,
    ...more,
  });

describe('The score of drift (A-19, C-21)', () => {
  it('adds up what is broken, up to 1', () => {
    const score = (...severities: PolicyViolation['severity'][]) =>
      drift({ violations: severities.map((severity) => violation(severity)) }).driftScore;
    expect(score()).toBe(0);
    expect(score('info')).toBe(0.1);
    expect(score('info', 'info', 'info')).toBe(0.3);
    expect(score('warn', 'info')).toBe(0.6);
    expect(score('block')).toBe(1);
    expect(score('block', 'warn', 'block')).toBe(1);
  });

  it('is between 0 and 1, and grows with each violation', () => {
    const Severities = fc.array(fc.constantFrom('info', 'warn', 'block'), { maxLength: 20 });
    fc.assert(
      fc.property(Severities, fc.constantFrom('info', 'warn', 'block'), (severities, more) => {
        const violations = severities.map((severity) => violation(severity));
        const before = drift({ violations }).driftScore;
        const after = drift({ violations: [...violations, violation(more)] }).driftScore;
        expect(before).toBeGreaterThanOrEqual(0);
        expect(after).toBeLessThanOrEqual(1);
        expect(after).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  it('counts that no mandatory policy holds', () => {
    expect(drift({ policies: [OPTIONAL] })).toMatchObject({
      driftScore: 0.5,
      violations: [{ policyId: 'governance', ruleId: 'missing_mandatory_policies', severity: 'warn' }],
    });
  });

  it('counts each version of a policy that is another one now, or none', () => {
    const { violations, driftScore } = drift({
      policies: [MANDATORY, OPTIONAL],
      policyVersions: { p: policyVersion(MANDATORY), q: 'old', gone: 'x' },
    });
    expect(violations.map(({ policyId, ruleId }) => [policyId, ruleId])).toEqual([
      ['q', 'stale_policy_reference'],
      ['gone', 'stale_policy_reference'],
    ]);
    expect(driftScore).toBe(1);
  });
});

describe('Suppressions (A-19)', () => {
  const isSuppressed = (by: Partial<Suppression>, more: Partial<Drifting> = {}) =>
    drift({ violations: [violation('block')], suppressions: [suppression(by)], ...more }).driftScore === 0;

  it('keep violations from counting, and are told', () => {
    expect(drift({ violations: [violation('block')], suppressions: [suppression()] })).toEqual({
      driftScore: 0,
      summary: { info: 0, warn: 0, block: 0 },
      violations: [],
      suppressed: [{ violation: violation('block'), suppressionId: 's', reason: 'until the move' }],
    });
  });

  it('are of one policy, of one rule if they say so, and of messages that have a pattern', () => {
    expect(isSuppressed({ policyId: 'q' })).toBe(false);
    expect(isSuppressed({ ruleId: 'r' })).toBe(true);
    expect(isSuppressed({ ruleId: 'other' })).toBe(false);
    expect(isSuppressed({ messagePattern: 'left-?pad$' })).toBe(true);
    expect(isSuppressed({ messagePattern: '^left' })).toBe(false);
  });

  it('expire', () => {
    expect(isSuppressed({ expiresAt: NOW + 1 })).toBe(true);
    expect(isSuppressed({ expiresAt: NOW })).toBe(false);
  });

  it('of somebody who could not have put the mandatory policy do not reach it', () => {
    const policies = [{ ...MANDATORY, mandatoryAt: 'company' as const }];
    expect(isSuppressed({ role: 'tech-lead' }, { policies })).toBe(false);
    expect(isSuppressed({ role: 'architect' }, { policies })).toBe(false);
    expect(isSuppressed({ role: 'admin' }, { policies })).toBe(true);
  });

  it('leave out what only informs where that is wanted', () => {
    const violations = [violation('info'), violation('warn')];
    expect(drift({ violations, autoSuppressInfo: true })).toMatchObject({
      driftScore: 0.5,
      suppressed: [{ violation: { severity: 'info' }, reason: 'It only informs' }],
    });
    expect(drift({ violations }).driftScore).toBe(0.6);
  });

  it('are refused with a pattern that is none', () => {
    const given = { policyId: 'p', reason: 'x', expiresAt: 1 };
    expect(NewSuppression.safeParse({ ...given, messagePattern: 'a+' }).success).toBe(true);
    const { error } = NewSuppression.safeParse({ ...given, messagePattern: '(a' });
    expect(error?.issues[0]?.message).toContain('missing closing )');
  });

  it('are refused in numbers that cannot be looked up', () => {
    const violations = Array.from({ length: 10_000 }, () => violation('info'));
    const suppressions = Array.from({ length: 500 }, () => suppression());
    expect(() => drift({ violations, suppressions })).toThrow(expect.objectContaining({ code: 'REFUSED' }));
  });
});
