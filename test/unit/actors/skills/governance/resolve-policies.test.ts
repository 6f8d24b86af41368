import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  POLICY_LAYERS,
  Policy,
  type PolicyLayer,
  policyVersion,
} from '../../../../../actors/skills/governance/policy.ts';
import { resolvePolicies } from '../../../../../actors/skills/governance/resolve-policies.ts';

const rule = (id: string, value = id) => ({ id, target: 'dependency', operator: 'MustNotUse', value });
const policy = (given: Partial<GivenPolicy> & { readonly layer: PolicyLayer }) =>
  Policy.parse({ id: 'p', name: `of ${given.layer}`, rules: [], ...given });
type GivenPolicy = Omit<Policy, 'rules'> & { readonly rules: readonly unknown[] };

const resolved = (policies: readonly Policy[], layer: PolicyLayer = 'project', scopes = {}) =>
  resolvePolicies(policies, layer, scopes);
const values = (policies: readonly Policy[], layer: PolicyLayer = 'project', scopes = {}) =>
  resolved(policies, layer, scopes).map(({ rules }) => rules.map(({ id, value }) => `${id}=${value}`));

describe('The policies that hold in a layer (A-18)', () => {
  const upper = { layer: 'company', rules: [rule('a', 'upper'), rule('b', 'upper')] } as const;
  const lower = { layer: 'team', rules: [rule('b', 'lower'), rule('c', 'lower')] } as const;

  it.each([
    ['override', ['b=lower', 'c=lower']],
    ['merge', ['a=upper', 'b=lower', 'c=lower']],
    ['intersect', ['b=lower']],
  ] as const)('are laid on those above by their strategy: %s', (mergeStrategy, found) => {
    expect(values([policy({ ...lower, mergeStrategy }), policy(upper)])).toEqual([found]);
  });

  it.each([
    ['override', ['a=upper', 'b=upper']],
    ['merge', ['a=upper', 'b=upper', 'c=lower']],
    ['intersect', ['a=upper', 'b=upper']],
  ] as const)('do not change what is mandatory above: %s', (mergeStrategy, found) => {
    const policies = [policy({ ...lower, mergeStrategy }), policy({ ...upper, mode: 'mandatory' })];
    expect(values(policies)).toEqual([found]);
    expect(resolved(policies)[0]).toMatchObject({
      name: 'of company',
      mode: 'mandatory',
      mandatoryAt: 'company',
    });
  });

  it('are those of the layers above and of the layer itself, not those below', () => {
    const policies = POLICY_LAYERS.map((layer) => policy({ id: layer, layer }));
    for (const [at, layer] of POLICY_LAYERS.entries())
      expect(resolved(policies, layer).map(({ id }) => id)).toEqual(POLICY_LAYERS.slice(0, at + 1));
  });

  it('are those of all, and of the scope that is asked for', () => {
    const policies = [
      policy({ layer: 'team', scope: 'core', rules: [rule('core')] }),
      policy({ layer: 'team', rules: [rule('all')] }),
      policy({ layer: 'team', scope: 'web', mergeStrategy: 'merge', rules: [rule('web')] }),
    ];
    expect(values(policies)).toEqual([['all=all']]);
    expect(values(policies, 'project', { team: 'core' })).toEqual([['core=core']]);
    expect(values(policies, 'project', { team: 'web' })).toEqual([['all=all', 'web=web']]);
    expect(values(policies, 'project', { project: 'core' })).toEqual([['all=all']]);
  });

  it('have a version that changes with what they say, and with nothing else', () => {
    const one = policy({ layer: 'team', rules: [rule('a')] });
    expect(policyVersion(policy({ layer: 'org', name: 'other', rules: [rule('a')] }))).toBe(
      policyVersion(one),
    );
    expect(policyVersion({ ...one, mode: 'mandatory' })).not.toBe(policyVersion(one));
    expect(policyVersion(policy({ layer: 'team', rules: [rule('a', 'b')] }))).not.toBe(policyVersion(one));
  });
});

const Rules = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 })
  .chain((ids) => fc.tuple(...ids.map((id) => fc.constantFrom('1', '2').map((value) => rule(id, value)))));
const Given = fc
  .record({
    id: fc.constantFrom('p', 'q'),
    layer: fc.constantFrom(...POLICY_LAYERS),
    scope: fc.constantFrom('', 'x', 'y'),
    mode: fc.constantFrom('optional', 'mandatory'),
    mergeStrategy: fc.constantFrom('override', 'merge', 'intersect'),
    rules: Rules,
  })
  .map((given) => policy({ ...given, scope: given.layer === 'company' ? '' : given.scope } as never));
const SCOPES = { org: 'x', team: 'x', project: 'x' };

describe('Whatever policies there are', () => {
  it('what is mandatory in a layer is in all layers below, unchanged', () => {
    fc.assert(
      fc.property(fc.array(Given, { maxLength: 8 }), fc.nat(2), (policies, at) => {
        const above = resolved(policies, POLICY_LAYERS[at], SCOPES).filter(
          ({ mode }) => mode === 'mandatory',
        );
        for (const layer of POLICY_LAYERS.slice(at)) {
          const below = resolved(policies, layer, SCOPES);
          for (const { id, name, rules, mandatoryAt } of above) {
            const same = below.find((one) => one.id === id);
            expect(same).toMatchObject({ mode: 'mandatory', name, mandatoryAt });
            expect(same?.rules.slice(0, rules.length)).toEqual(rules);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a mandatory policy of the company has all of its rules, whatever is put below it', () => {
    fc.assert(
      fc.property(Rules, fc.array(Given, { maxLength: 8 }), (rules, others) => {
        const top = policy({ layer: 'company', mode: 'mandatory', rules });
        const below = others.filter(({ layer }) => layer !== 'company');
        expect(resolved([...below, top], 'project', SCOPES).find(({ id }) => id === 'p')?.rules).toEqual(
          expect.arrayContaining([...top.rules]),
        );
      }),
    );
  });

  it('no id is there twice, and no rule of one', () => {
    fc.assert(
      fc.property(fc.array(Given, { maxLength: 8 }), (policies) => {
        const found = resolved(policies, 'project', SCOPES);
        expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
        for (const { rules } of found) expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
      }),
    );
  });

  it('their order does not matter', () => {
    const placed = fc.uniqueArray(Given, { maxLength: 8, selector: (p) => `${p.id} ${p.layer} ${p.scope}` });
    fc.assert(
      fc.property(placed, (policies) => {
        const byId = (all: typeof policies) =>
          resolved(all, 'project', SCOPES).toSorted((one, other) => (one.id < other.id ? -1 : 1));
        expect(byId(policies.toReversed())).toEqual(byId(policies));
      }),
    );
  });
});
