import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Door, SkillUser } from '../fixtures/skills/doors.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';

let team: SkillTeam;
beforeAll(async () => {
  team = await SkillTeam.start();
});
afterAll(() => team[Symbol.asyncDispose]());

const MANDATORY = {
  id: 'licences',
  name: 'Licences',
  layer: 'company',
  mode: 'mandatory',
  rules: [{ id: 'has-licence', target: 'file', operator: 'MustExist', value: 'LICENSE', severity: 'block' }],
};
const WEAKER = {
  ...MANDATORY,
  layer: 'project',
  mode: 'optional',
  mergeStrategy: 'override',
  rules: [{ ...MANDATORY.rules[0], severity: 'info' }],
};
const HINTS = {
  id: 'hints',
  name: 'Hints',
  layer: 'project',
  rules: [{ id: 'no-var', target: 'code', operator: 'MustNotMatch', value: '^var ', severity: 'info' }],
};

describe.each(SkillTeam.doorNames)('Governance by %s', (name) => {
  let door: Door;
  let chief: SkillUser;
  let lead: SkillUser;
  let developer: SkillUser;
  let stranger: SkillUser;
  const done = async (...call: Parameters<Door['call']>) => outputOf(await door.call(...call));
  beforeAll(async () => {
    door = team.door(name);
    chief = team.user(`acme by ${name}`, 'admin');
    lead = team.user(`acme by ${name}`, 'tech-lead');
    developer = team.user(`acme by ${name}`, 'developer');
    stranger = team.user(`evil by ${name}`, 'admin');
    await done(chief, 'governance_policy_put', { policy: MANDATORY });
    await done(developer, 'governance_policy_put', { policy: HINTS });
  });

  it('says what breaks the policies that hold, with both verdicts (A-07, A-18, C-20)', async () => {
    const context = { files: [{ path: 'src/a.ts', content: 'var x = 1;\n' }] };
    expect(await done(developer, 'governance_validate', { context })).toMatchObject({
      isValid: false,
      passed: false,
      violations: [
        { policyId: 'licences', ruleId: 'has-licence', severity: 'block' },
        { policyId: 'hints', ruleId: 'no-var', severity: 'info', location: { file: 'src/a.ts', line: 1 } },
      ],
    });
    const licensed = { files: [...context.files, { path: 'LICENSE', content: 'Apache-2.0' }] };
    expect(
      await done(developer, 'governance_validate', { context: licensed, layer: 'project' }),
    ).toMatchObject({
      isValid: false,
      passed: true,
      summary: { info: 1, warn: 0, block: 0 },
    });
    expect(
      await done(developer, 'governance_validate', { context: licensed, layer: 'company' }),
    ).toMatchObject({
      isValid: true,
      passed: true,
      violations: [],
    });
  });

  it('lets nobody below change what is mandatory above, whatever the strategy', async () => {
    expect(await done(developer, 'governance_policy_put', { policy: WEAKER })).toMatchObject({
      changesNothing: true,
    });
    expect(
      await done(developer, 'governance_validate', { context: { files: [{ path: 'a.ts' }] } }),
    ).toMatchObject({
      passed: false,
      violations: [{ policyId: 'licences', severity: 'block' }],
    });
    expect(
      await door.call(developer, 'governance_policy_put', { policy: { ...MANDATORY, mode: 'optional' } }),
    ).toMatchObject({ kind: 'failed', code: 'UNAUTHORIZED' });
  });

  it('keeps how far a project has drifted, but for what is suppressed (A-19, C-21)', async () => {
    const context = {
      files: [
        { path: 'LICENSE', content: 'x' },
        { path: 'a.ts', content: 'var x = 1;\n' },
      ],
    };
    const drift = { project: 'shop', context, threshold: 0.05 };
    expect(await done(developer, 'governance_drift_check', drift)).toMatchObject({
      driftScore: 0.1,
      passes: false,
      violations: [{ policyId: 'hints', ruleId: 'no-var' }],
    });
    await done(lead, 'governance_suppress', {
      policyId: 'hints',
      reason: 'Old code',
      expiresAt: Date.now() + 3_600_000,
    });
    expect(await done(developer, 'governance_drift_check', drift)).toMatchObject({
      driftScore: 0,
      passes: true,
      violations: [],
      suppressed: [{ violation: { policyId: 'hints' } }],
    });
    const { results } = await done(developer, 'governance_drift_list', { project: 'shop' });
    expect(results.map(({ driftScore }: { driftScore: number }) => driftScore)).toEqual([0, 0.1]);
  });

  it('is of its tenant, and names what it cannot take (A-05, A-20)', async () => {
    expect(await done(stranger, 'governance_policy_list', {})).toEqual({ policies: [] });
    expect(await done(stranger, 'governance_drift_list', { project: 'shop' })).toEqual({ results: [] });
    const bad = { ...HINTS, rules: [{ ...HINTS.rules[0], value: '(' }] };
    expect(await door.call(developer, 'governance_policy_put', { policy: bad })).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('no-var'),
    });
  });
});
