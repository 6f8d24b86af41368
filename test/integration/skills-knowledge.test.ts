import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Door, SkillUser } from '../fixtures/skills/doors.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';

let team: SkillTeam;
beforeAll(async () => {
  team = await SkillTeam.start();
});
afterAll(() => team[Symbol.asyncDispose]());

const POLICY = {
  type: 'policy',
  title: 'Tokens are compared in constant time',
  summary: 'Use timingSafeEqual',
  content: '# Why\n\nThe time of a comparison tells how much of a token is right.',
  status: 'accepted',
  tags: ['security'],
  constraints: [
    {
      operator: 'MustNotMatch',
      target: 'code',
      value: 'token ===',
      severity: 'block',
      message: 'Use timingSafeEqual',
    },
    { operator: 'MustNotUse', target: 'dependency', value: 'left-pad', severity: 'warn' },
  ],
};

describe.each(SkillTeam.doorNames)('Knowledge by %s', (name) => {
  let door: Door;
  let chief: SkillUser;
  let developer: SkillUser;
  let stranger: SkillUser;
  const done = async (...call: Parameters<Door['call']>) => outputOf(await door.call(...call));
  beforeAll(() => {
    door = team.door(name);
    // A tenant for each door, so that none finds what another has kept.
    chief = team.user(`acme by ${name}`, 'admin');
    developer = team.user(`acme by ${name}`, 'developer');
    stranger = team.user(`evil by ${name}`, 'admin');
  });

  it('is kept, found with summaries, and shown whole (A-07, A-15, A-16)', async () => {
    const { id } = await done(chief, 'knowledge_add', POLICY);
    await done(developer, 'knowledge_add', { type: 'adr', title: 'Tokens are opaque', content: 'A draft' });
    const found = await done(developer, 'knowledge_query', { query: 'comparing a token', type: 'policy' });
    expect(found.items).toMatchObject([
      { id, title: POLICY.title, summary: 'Use timingSafeEqual', status: 'accepted', hasConstraints: true },
    ]);
    expect(await done(developer, 'knowledge_query', { query: 'opaque tokens' })).not.toMatchObject({
      items: [{ title: 'Tokens are opaque' }],
    });
    expect(await done(developer, 'knowledge_show', { id })).toMatchObject({
      id,
      content: POLICY.content,
      constraints: POLICY.constraints,
      tags: ['security'],
    });
  });

  it('is checked: violations with severity and place, and both verdicts (A-17, C-20)', async () => {
    const checked = await done(developer, 'knowledge_check', {
      files: [{ path: 'src/login.ts', content: 'const known = true;\nif (token === given) enter();\n' }],
      dependencies: [{ name: 'left-pad', version: '1.3.0' }],
    });
    expect(checked).toMatchObject({ passed: false, isValid: false, summary: { info: 0, warn: 1, block: 1 } });
    expect(checked.violations[0]).toMatchObject({
      itemTitle: POLICY.title,
      severity: 'block',
      message: 'Use timingSafeEqual',
      location: { file: 'src/login.ts', line: 2 },
    });
    expect(await done(developer, 'knowledge_check', { dependencies: [{ name: 'left-pad' }] })).toMatchObject({
      passed: true,
      isValid: false,
    });
    expect(await done(developer, 'knowledge_check', { dependencies: [{ name: 'hono' }] })).toMatchObject({
      passed: true,
      isValid: true,
      violations: [],
    });
  });

  it('is of its tenant, and writes by role (A-05, A-06)', async () => {
    const { items } = await done(developer, 'knowledge_query', {});
    const { id } = items[0];
    expect(await done(stranger, 'knowledge_query', { query: 'tokens' })).toMatchObject({
      items: [],
      totalCount: 0,
    });
    const unknown = await door.call(stranger, 'knowledge_show', { id: 'no-such-item' });
    const foreign = await door.call(stranger, 'knowledge_show', { id });
    expect(foreign).toEqual({
      ...unknown,
      message: (unknown as { message: string }).message.replace('no-such-item', id),
    });
    expect(await door.call(developer, 'knowledge_add', { ...POLICY, layer: 'company' })).toMatchObject({
      kind: 'failed',
      code: 'UNAUTHORIZED',
    });
  });

  it('names what it cannot take, a pattern among it (A-20)', async () => {
    const bad = { operator: 'MustMatch', target: 'code', value: '(a' };
    const outcome = await door.call(chief, 'knowledge_add', { ...POLICY, title: 'Bad', constraints: [bad] });
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('(a') });
    expect(await door.call(chief, 'knowledge_query', { type: 'novel' })).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('type'),
    });
  });

  it('asks what is to be checked where nothing is given (A-09)', async () => {
    expect(await door.call(developer, 'knowledge_check', {})).toMatchObject({
      kind: 'question',
      question: expect.stringContaining('What is to be checked'),
    });
  });
});
