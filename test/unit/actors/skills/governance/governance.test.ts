import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { governanceAgent } from '../../../../../actors/skills/governance/governance-agent.ts';
import {
  governanceDriftCheck,
  governancePolicyPut,
  governanceValidate,
} from '../../../../../actors/skills/governance/governance-capabilities.ts';
import { DriftResult, Validation } from '../../../../../actors/skills/governance/governance-results.ts';
import { Policies } from '../../../../../actors/skills/governance/policies.ts';
import { PolicyChecks } from '../../../../../actors/skills/governance/policy-checks.ts';
import { Suppressions } from '../../../../../actors/skills/governance/suppressions.ts';
import type { Role } from '../../../../../actors/skills/role.ts';
import type { SkillCaller } from '../../../../../actors/skills/skill-caller.ts';
import type { SkillStore } from '../../../../../actors/skills/store/skill-store.ts';
import { openSqlite } from '../../../../../actors/skills/store/sqlite.ts';
import { parseInput } from '../../../../../runtime/protocol/capability.ts';
import { systemClock } from '../../../../../runtime/protocol/system-seams.ts';

const caller = (role: Role, tenant = 'acme'): SkillCaller => ({
  tenant,
  principalId: `key:${role}`,
  role,
  agentId: undefined,
});
const ADMIN = caller('admin');
const LEAD = caller('tech-lead');

let store: SkillStore;
let now: number;
let ids: number;
let policies: Policies;
let checks: PolicyChecks;
let suppressions: Suppressions;
beforeEach(async () => {
  store = await openSqlite(':memory:', systemClock);
  [now, ids] = [1_000, 0];
  const deps = { store, now: () => now, newId: () => `id-${String(++ids).padStart(4, '0')}` };
  policies = new Policies(deps);
  checks = new PolicyChecks(deps);
  suppressions = new Suppressions(deps);
});
afterEach(() => store.close());

const rule = (value: string, more = {}) => ({
  id: `no-${value}`,
  target: 'dependency',
  operator: 'MustNotUse',
  value,
  ...more,
});
const parsed = (given: Record<string, unknown>) =>
  parseInput(governancePolicyPut, {
    policy: { id: 'deps', name: 'Dependencies', layer: 'team', rules: [rule('left-pad')], ...given },
  }).policy;
const put = (by: SkillCaller, given: Record<string, unknown> = {}) => policies.put(by, parsed(given));
const validate = (by: SkillCaller, input: Record<string, unknown>) =>
  checks.validate(by, parseInput(governanceValidate, input));
const drift = (by: SkillCaller, input: Record<string, unknown> = {}) =>
  checks.checkDrift(by, parseInput(governanceDriftCheck, { project: 'shop', context: {}, ...input }));

const LEFT_PAD = { dependencies: ['left-pad@1.3.0'] };
const code = (code: string, message = /./) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe('Putting policies', () => {
  it.each<[string, Role, Role]>([
    ['project', 'developer', 'viewer'],
    ['team', 'tech-lead', 'agent'],
    ['org', 'architect', 'tech-lead'],
    ['company', 'admin', 'architect'],
  ])('of the layer %s takes the role %s (A-06)', async (layer, may, mayNot) => {
    await expect(put(caller(mayNot), { layer })).rejects.toThrow(
      code('NOT_PERMITTED', new RegExp(`${may}.*${mayNot}`)),
    );
    expect(await policies.list(ADMIN, { limit: 10 })).toEqual([]);
    await put(caller(may), { layer });
    expect(await policies.list(ADMIN, { limit: 10 })).toMatchObject([
      { author: `key:${may}`, policy: { layer } },
    ]);
  });

  it('replaces what the layer has under the id, and tells its version', async () => {
    const { stored: first } = await put(LEAD);
    now = 2_000;
    const { stored: second } = await put(LEAD, { rules: [rule('lodash')] });
    expect(second.policyVersion).not.toBe(first.policyVersion);
    expect(await policies.show(ADMIN, { policyId: 'deps' })).toEqual(second);
    expect(second).toMatchObject({
      updatedAt: 2_000,
      policy: { rules: [{ value: 'lodash', severity: 'warn' }] },
    });
  });

  it.each([
    [
      'a bad pattern',
      { rules: [rule('(a', { operator: 'MustMatch' })] },
      /policy\.rules\[0\]\.value is "\(a".*missing closing.*in the rule "no-\(a"/,
    ],
    ['deny twice', { rules: [rule('a', { ruleType: 'deny' })] }, /denies already/],
    ['two rules of one id', { rules: [rule('a'), rule('a')] }, /different ids/],
    ['a part of the company', { layer: 'company', scope: 'x' }, /which is one/],
    ['a name that is taken', { id: 'governance' }, /other than "governance"/],
    [
      'too much',
      { rules: Array.from({ length: 90 }, (_, at) => rule(`${at}`, { message: 'x'.repeat(900) })) },
      /65536 characters/,
    ],
    ['too many rules', { rules: Array.from({ length: 101 }, (_, at) => rule(`${at}`)) }, /100/],
  ])('is refused for %s (A-20)', (_, given, message) => {
    expect(() => parsed(given)).toThrow(code('INVALID_PAYLOAD', message));
  });

  it('has a mandatory one say less only for an admin', async () => {
    const mandatory = { mode: 'mandatory', rules: [rule('a'), rule('b')] };
    await put(LEAD, mandatory);
    await expect(put(LEAD, { ...mandatory, mode: 'optional' })).rejects.toThrow(
      code('NOT_PERMITTED', /say less/),
    );
    await expect(put(LEAD, { ...mandatory, rules: [rule('a')] })).rejects.toThrow(code('NOT_PERMITTED'));
    await expect(
      put(LEAD, { ...mandatory, rules: [rule('a'), rule('b', { severity: 'info' })] }),
    ).rejects.toThrow(code('NOT_PERMITTED'));
    await put(LEAD, { ...mandatory, rules: [rule('a'), rule('b'), rule('c')] });
    await put(ADMIN, { rules: [] });
    expect(await policies.show(LEAD, { policyId: 'deps' })).toMatchObject({ policy: { rules: [] } });
  });

  it('tells when what is mandatory above leaves it without effect', async () => {
    await put(ADMIN, { layer: 'company', mode: 'mandatory' });
    expect(await put(LEAD, { rules: [] })).toMatchObject({ changesNothing: true });
    expect(await put(LEAD, { id: 'other', rules: [] })).toMatchObject({ changesNothing: false });
    expect(await put(LEAD, { mergeStrategy: 'merge', rules: [rule('b')] })).toMatchObject({
      changesNothing: false,
    });
  });

  it('is refused beyond what a tenant may have', async () => {
    const long = (id: number) => ({
      id: `p${id}`,
      rules: Array.from({ length: 60 }, (_, at) => rule(`${at}`, { message: 'x'.repeat(900) })),
    });
    const some = async () => {
      for (let id = 0; id < 20; id++) await put(LEAD, long(id));
    };
    await expect(some()).rejects.toThrow(code('REFUSED', /500000 characters/));
  });
});

describe('Removing policies', () => {
  it('takes the role of the layer, and an admin for a mandatory one', async () => {
    await put(LEAD);
    await expect(policies.remove(caller('developer'), { policyId: 'deps' })).rejects.toThrow(
      code('NOT_PERMITTED'),
    );
    expect(await policies.remove(LEAD, { policyId: 'deps' })).toBe(true);
    await put(LEAD, { mode: 'mandatory' });
    await expect(policies.remove(caller('architect'), { policyId: 'deps' })).rejects.toThrow(
      code('NOT_PERMITTED', /admin/),
    );
    expect(await policies.remove(ADMIN, { policyId: 'deps' })).toBe(true);
    expect(await policies.remove(ADMIN, { policyId: 'deps' })).toBe(false);
  });

  it('asks which is meant, where there are several (A-09)', async () => {
    await put(ADMIN, { layer: 'company' });
    await put(ADMIN, { layer: 'team', scope: 'core' });
    const asked = policies.remove(ADMIN, { policyId: 'deps' });
    await expect(asked).rejects.toThrow(code('INPUT_REQUIRED', /2 policies "deps"/));
    await expect(asked).rejects.toHaveProperty('details.pause.schema.enum', ['company', 'team core']);
    await expect(policies.show(ADMIN, { policyId: 'deps' }, 'nonsense')).rejects.toThrow(
      code('INPUT_REQUIRED'),
    );
    expect(await policies.remove(ADMIN, { policyId: 'deps' }, 'team core')).toBe(true);
    expect(await policies.show(ADMIN, { policyId: 'deps' })).toMatchObject({ policy: { layer: 'company' } });
    await expect(policies.show(ADMIN, { policyId: 'none' })).rejects.toThrow(
      code('REFUSED', /no policy "none"/),
    );
  });
});

describe('Validating (A-18, C-20)', () => {
  it('is valid without any violation, and passes without one that blocks', async () => {
    await put(ADMIN, {
      rules: [rule('left-pad', { severity: 'info' }), rule('evil', { severity: 'block' })],
    });
    expect(await validate(LEAD, { context: { dependencies: {} } })).toMatchObject({
      isValid: true,
      passed: true,
    });
    const info = await validate(caller('viewer'), { context: LEFT_PAD });
    expect(info).toMatchObject({ isValid: false, passed: true, summary: { info: 1, warn: 0, block: 0 } });
    expect(info.violations).toMatchObject([
      { policyId: 'deps', ruleId: 'no-left-pad', found: 'left-pad@1.3.0' },
    ]);
    const worst = await validate(LEAD, {
      context: { dependencies: ['left-pad', { name: 'evil' }] },
      minSeverity: 'warn',
    });
    expect(worst).toMatchObject({ isValid: false, passed: false, summary: { info: 1, block: 1 } });
    expect(worst.violations.map(({ severity }) => severity)).toEqual(['block']);
    expect(Validation.parse(worst)).toEqual(worst);
  });

  it('is by the policies of the layer that is meant, and tells which', async () => {
    await put(ADMIN, { id: 'c', layer: 'company' });
    await put(ADMIN, { id: 't', layer: 'team', scope: 'core' });
    await put(ADMIN, { id: 'p', layer: 'project', scope: 'shop' });
    const applied = async (input: Record<string, unknown>) =>
      (await validate(LEAD, { context: {}, ...input })).policies;
    expect(await applied({})).toEqual(['c']);
    expect(await applied({ scopes: { team: 'core', project: 'shop' } })).toEqual(['c', 't', 'p']);
    expect(await applied({ layer: 'company', scopes: { team: 'core' } })).toEqual(['c']);
  });

  it('takes a context as Aeterna names it', async () => {
    await put(ADMIN, {
      rules: [
        rule('eval', { id: 'code', target: 'code' }),
        rule('src/**', { id: 'file', target: 'file' }),
        rule('fs', { id: 'import', target: 'import' }),
        rule('debug', { id: 'config', target: 'config' }),
      ],
    });
    const context = {
      path: 'src/a.ts',
      content: '\neval(x)',
      imports: ['node:fs'],
      config: { debug: true },
      projectId: 'shop',
    };
    const { violations, notJudged } = await validate(LEAD, { context });
    expect(violations.map(({ ruleId }) => ruleId)).toEqual(['code', 'file', 'import', 'config']);
    expect(violations[0]?.location).toEqual({ file: 'src/a.ts', line: 2 });
    expect(notJudged).toEqual([]);
    const { notJudged: all } = await validate(LEAD, { context: { language: 'none' } });
    expect(all.map(({ ruleId }) => ruleId)).toEqual(['code', 'file', 'import', 'config']);
  });

  it('does not let a lower layer weaken what is mandatory above', async () => {
    await put(LEAD, { layer: 'project', rules: [] });
    await put(ADMIN, {
      layer: 'company',
      mode: 'mandatory',
      rules: [rule('left-pad', { severity: 'block' })],
    });
    await put(LEAD, { layer: 'team', mergeStrategy: 'intersect', rules: [] });
    await put(LEAD, {
      layer: 'team',
      scope: 'core',
      mergeStrategy: 'merge',
      rules: [rule('left-pad', { severity: 'info' })],
    });
    const scopes = { team: 'core' };
    expect(await validate(LEAD, { context: LEFT_PAD, scopes })).toMatchObject({
      passed: false,
      summary: { block: 1, info: 0 },
    });
  });

  it('tells a hundred violations at most, the worst, and counts all', async () => {
    await put(ADMIN, {
      rules: [
        ...Array.from({ length: 9 }, (_, at) => rule('x/**', { id: `info${at}`, severity: 'info' })),
        rule('y', { severity: 'block' }),
      ],
    });
    const dependencies = [...Array.from({ length: 50 }, (_, at) => `x/${at}`), 'y'];
    const { violations, summary } = await validate(LEAD, { context: { dependencies } });
    expect(violations).toHaveLength(100);
    expect(violations[0]?.severity).toBe('block');
    expect(summary).toEqual({ info: 180, warn: 0, block: 1 });
  });

  it.each([
    ['a text that is too long', { content: 'x'.repeat(1_048_577) }],
    ['too many files', { files: Array.from({ length: 10_001 }, () => ({ path: 'a' })) }],
    [
      'too much in all',
      { files: Array.from({ length: 17 }, () => ({ path: 'a', content: 'x'.repeat(1_000_000) })) },
    ],
    ['too many dependencies', { dependencies: Array.from({ length: 5_001 }, () => 'a') }],
  ])('is refused for %s (A-20)', (_, context) => {
    expect(() => parseInput(governanceValidate, { context })).toThrow(code('INVALID_PAYLOAD'));
  });
});

describe('Checking for drift (A-19, C-21)', () => {
  it('gives the score, whether it is within the threshold, and keeps it', async () => {
    await put(ADMIN, { layer: 'company', mode: 'mandatory', rules: [rule('left-pad')] });
    const none = await drift(LEAD, { context: { dependencies: [] } });
    expect(none).toMatchObject({
      driftScore: 0,
      hasDrift: false,
      passes: true,
      withinThreshold: true,
      confidence: 1,
    });
    now = 2_000;
    const some = await drift(LEAD, { context: LEFT_PAD });
    expect(some).toMatchObject({
      driftScore: 0.5,
      hasDrift: true,
      passes: false,
      withinThreshold: false,
      checkedAt: 2_000,
    });
    expect((await drift(LEAD, { context: LEFT_PAD, threshold: 0.5 })).passes).toBe(true);
    expect(DriftResult.parse(some)).toEqual(some);
    const kept = (await checks.drifts(LEAD, 'shop', 10)).results;
    expect(kept.map(({ driftScore }) => driftScore)).toEqual([0.5, 0.5, 0]);
    expect(kept[2]).toEqual(none);
    expect((await checks.drifts(LEAD, 'shop', 1)).results).toHaveLength(1);
    expect((await checks.drifts(LEAD, 'other', 10)).results).toEqual([]);
  });

  it('wants somebody to look where something that rules are about is not known', async () => {
    await put(ADMIN, { layer: 'company', mode: 'mandatory' });
    expect(await drift(LEAD, { context: LEFT_PAD })).toMatchObject({ requiresManualReview: false });
    expect(await drift(LEAD, { context: {} })).toMatchObject({
      driftScore: 0,
      requiresManualReview: true,
      notJudged: [{ policyId: 'deps', ruleId: 'no-left-pad' }],
    });
  });

  it('finds that the policies the project names have changed', async () => {
    await put(ADMIN, { layer: 'company', mode: 'mandatory' });
    const { policyVersions } = await validate(LEAD, { context: LEFT_PAD });
    const context = { dependencies: [], policyVersions };
    expect((await drift(LEAD, { context })).driftScore).toBe(0);
    await put(ADMIN, { layer: 'company', mode: 'mandatory', rules: [rule('left-pad'), rule('evil')] });
    expect((await drift(LEAD, { context })).violations).toMatchObject([{ ruleId: 'stale_policy_reference' }]);
  });

  it('goes by the policies of the project, and of the team that is named', async () => {
    await put(ADMIN, { id: 'a', layer: 'project', scope: 'shop' });
    await put(ADMIN, { id: 'b', layer: 'project', scope: 'other' });
    await put(ADMIN, { id: 'c', layer: 'team', scope: 'core' });
    expect((await drift(LEAD)).policies).toEqual(['a']);
    expect((await drift(LEAD, { scopes: { team: 'core' } })).policies).toEqual(['c', 'a']);
  });

  it('keeps the newest hundred of a project', async () => {
    for (now = 1; now <= 103; now++) await drift(LEAD);
    const kept = (await checks.drifts(LEAD, 'shop', 1_000)).results;
    expect(kept).toHaveLength(100);
    expect(kept.at(-1)?.checkedAt).toBe(4);
  });

  it('keeps nothing twice of a request that is tried again', async () => {
    const again = new PolicyChecks({ store, now: () => now, newId: () => 'same' });
    const input = parseInput(governanceDriftCheck, { project: 'shop', context: {} });
    await again.checkDrift(LEAD, input);
    await again.checkDrift(LEAD, input);
    expect((await checks.drifts(LEAD, 'shop', 10)).results).toHaveLength(1);
  });
});

describe('Suppressing', () => {
  const given = { policyId: 'deps', reason: 'we are moving', expiresAt: 5_000 };
  beforeEach(() => put(ADMIN, { layer: 'team', mode: 'mandatory' }));

  it('takes a tech lead, and an admin for what is mandatory for the company (A-06)', async () => {
    await expect(suppressions.suppress(caller('developer'), given)).rejects.toThrow(code('NOT_PERMITTED'));
    await suppressions.suppress(LEAD, given);
    await put(ADMIN, { layer: 'company', mode: 'mandatory' });
    await expect(suppressions.suppress(LEAD, given)).rejects.toThrow(code('NOT_PERMITTED', /admin/));
    // What was suppressed before it became mandatory for all counts again.
    expect((await drift(LEAD, { context: LEFT_PAD })).driftScore).toBe(0.5);
    await suppressions.suppress(ADMIN, given);
    expect((await drift(LEAD, { context: LEFT_PAD })).driftScore).toBe(0);
  });

  it('ends when it expires, and when somebody ends it', async () => {
    const { id } = await suppressions.suppress(LEAD, given);
    const score = async () => (await drift(LEAD, { context: LEFT_PAD })).driftScore;
    expect(await score()).toBe(0);
    now = 4_999;
    expect(await score()).toBe(0);
    now = 5_000;
    expect(await score()).toBe(0.5);
    expect(await suppressions.list(LEAD, 10)).toMatchObject([
      { id, isExpired: true, author: 'key:tech-lead' },
    ]);
    now = 1_000;
    await expect(suppressions.remove(caller('developer'), id)).rejects.toThrow(code('NOT_PERMITTED'));
    expect(await suppressions.remove(LEAD, id)).toBe(true);
    expect(await score()).toBe(0.5);
    expect(await suppressions.remove(LEAD, id)).toBe(false);
  });

  it('is refused for a time that is over, and for a policy that is not there', async () => {
    await expect(suppressions.suppress(LEAD, { ...given, expiresAt: 1_000 })).rejects.toThrow(
      code('INVALID_PAYLOAD', /expiresAt/),
    );
    await expect(suppressions.suppress(LEAD, { ...given, policyId: 'dpes' })).rejects.toThrow(
      code('REFUSED'),
    );
  });

  it('has a bound, for which those that have expired make room', async () => {
    for (let at = 0; at < 500; at++)
      await suppressions.suppress(LEAD, { ...given, expiresAt: at === 0 ? 1_500 : 5_000 });
    await expect(suppressions.suppress(LEAD, given)).rejects.toThrow(code('REFUSED', /500/));
    now = 2_000;
    await suppressions.suppress(LEAD, given);
    expect(await suppressions.list(LEAD, 1_000)).toHaveLength(500);
  });
});

describe('Tenants (A-05)', () => {
  it('see nothing of each other, and change nothing of each other', async () => {
    const other = caller('admin', 'globex');
    await put(ADMIN, { layer: 'company', mode: 'mandatory' });
    const { id } = await suppressions.suppress(ADMIN, { policyId: 'deps', reason: 'x', expiresAt: 5_000 });
    await drift(ADMIN, { context: LEFT_PAD });
    expect(await policies.list(other, { limit: 10 })).toEqual([]);
    await expect(policies.show(other, { policyId: 'deps' })).rejects.toThrow(code('REFUSED'));
    expect(await policies.remove(other, { policyId: 'deps' })).toBe(false);
    expect(await validate(other, { context: LEFT_PAD })).toMatchObject({ isValid: true, policies: [] });
    expect(await suppressions.list(other, 10)).toEqual([]);
    expect(await suppressions.remove(other, id)).toBe(false);
    expect((await checks.drifts(other, 'shop', 10)).results).toEqual([]);
    await put(other, { layer: 'company', rules: [] });
    expect(await drift(other, { context: LEFT_PAD })).toMatchObject({ suppressedCount: 0 });
    expect(await policies.show(ADMIN, { policyId: 'deps' })).toMatchObject({ policy: { mode: 'mandatory' } });
    expect(await suppressions.list(ADMIN, 10)).toHaveLength(1);
  });
});

describe('The agent', () => {
  it('offers each tool, with schemas that say what it needs', () => {
    const { capabilities, id } = governanceAgent({}).card(0);
    expect(id).toBe('governance');
    const needed = Object.fromEntries(
      capabilities.map((one) => [one.id, (one.inputSchema as { required?: string[] }).required ?? []]),
    );
    expect(needed).toEqual({
      governance_validate: ['context'],
      governance_drift_check: ['project', 'context'],
      governance_drift_list: ['project'],
      governance_policy_put: ['policy'],
      governance_policy_list: [],
      governance_policy_show: ['policyId'],
      governance_policy_remove: ['policyId'],
      governance_suppress: ['policyId', 'reason', 'expiresAt'],
      governance_unsuppress: ['suppressionId'],
      governance_suppressions: [],
    });
  });

  it('refuses options that it does not have', () => {
    expect(() => governanceAgent({ stores: 'x' } as never)).toThrow(code('INVALID_OPTIONS', /stores/));
  });
});
