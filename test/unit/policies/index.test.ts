import { describe, expect, it } from 'vitest';
import { defaultPolicies, loadPolicies, type PolicyOptions } from '../../../policies/index.ts';
import { requestOf } from './judge-request.ts';

const moduleOf = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

describe('defaultPolicies (N-D21)', () => {
  it('judges version, deadline, path, sandbox, tier and escalation in this order', () => {
    expect(defaultPolicies().map(({ name }) => name)).toEqual([
      'schema-version',
      'deadline',
      'budget',
      'path-guard',
      'sandbox',
      'tier-rules',
      'escalation',
    ]);
  });

  it('takes the rules of the tier table with or without their frame', () => {
    const rules = [
      { sourceTier: 3, allowedTargetTiers: [], requiresEscalationJustification: false },
    ] as const;
    for (const tiers of [rules, { rules }]) {
      const verdicts = defaultPolicies({ tiers }).map((policy) => policy.judge(requestOf())?.code);
      expect(verdicts.filter((code) => code !== undefined)).toEqual(['TIER_VIOLATION']);
    }
  });

  it.each([
    [{ maxHops: 0 }, 'policies.maxHops is 0, expected a number above 0'],
    [{ escalation: 'sometimes' }, 'policies.escalation is "sometimes", expected "all", "proposals" or "off"'],
    [{ tiers: [{ sourceTier: 9 }] }, 'policies.tiers.rules[0].sourceTier is 9'],
    [
      { sandbox: { enforced: true, crossSandboxAllowList: [], alow: {} } },
      'policies.sandbox.alow is {}, expected no option',
    ],
    [{ custom: [] }, 'policies.custom is [], expected no option'],
    [
      {
        tiers: [0, 0].map((sourceTier) => ({
          sourceTier,
          allowedTargetTiers: [],
          requiresEscalationJustification: false,
        })),
      },
      'policies.tiers.rules[1].sourceTier is 0, expected one rule a source tier',
    ],
  ])('refuses %j, naming field and value', (options, message) => {
    expect(() => defaultPolicies(options as PolicyOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(message) }),
    );
  });
});

describe('loadPolicies', () => {
  it('puts the rules of the user after all others, with their options', async () => {
    const module = moduleOf(`export const policy = ({ limit }) => ({
      name: 'curfew',
      judge: ({ nowMs }) => (nowMs < limit ? undefined : { code: 'REFUSED', reason: 'too late', retryAfterMs: 5 }),
    });`);
    const policies = await loadPolicies({ custom: [{ module, options: { limit: 500 } }] });
    expect(policies).toHaveLength(8);
    const own = policies.at(-1);
    expect(own?.judge(requestOf({ nowMs: 499 }))).toBeUndefined();
    expect(own?.judge(requestOf({ nowMs: 500 }))).toEqual({
      code: 'REFUSED',
      reason: 'too late',
      retryAfterMs: 5,
    });
  });

  it.each([
    ['exports nothing', 'export {}', 'exports no function named "policy"'],
    ['returns no rule', 'export const policy = () => ({ name: "x" })', 'no judge function'],
    ['throws', 'export const policy = () => { throw new Error("no limit") }', 'no limit'],
    ['does not parse', 'export const', 'cannot be used'],
  ])('refuses a module that %s, naming it', async (_case, source, message) => {
    const module = moduleOf(source);
    await expect(loadPolicies({ custom: [{ module }] })).rejects.toMatchObject({
      code: 'MODULE_INVALID',
      message: expect.stringContaining(message),
      details: { module },
    });
  });

  it('refuses a path, which would be read from the wrong folder', async () => {
    for (const module of ['./curfew.ts', '../curfew.ts', '/curfew.ts', '']) {
      await expect(loadPolicies({ custom: [{ module }] })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    }
  });
});
