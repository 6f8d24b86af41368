import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SkillUser } from '../fixtures/skills/doors.ts';
import { GitRepository } from '../fixtures/skills/git-repository.ts';
import { HeldGit } from '../fixtures/skills/held-git.ts';
import { type LongWay, longWays } from '../fixtures/skills/long-calls.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';
import { until } from '../fixtures/until.ts';

const NAMES = [
  ...SkillTeam.doorNames.filter((name) => name !== 'MCP'),
  'MCP as a task',
  'MCP with a progress token',
];
const FILES = 250;
/** What a sync takes at a time. */
const BATCH = 100;
const tenantOf = (name: string): string => `acme by ${name}`;

let git: HeldGit;
let repository: GitRepository;
let team: SkillTeam;
beforeAll(async () => {
  git = new HeldGit();
  repository = new GitRepository();
  const fileOf = (at: number) =>
    `---\ntype: adr\ntitle: Decision ${at}\nstatus: accepted\n---\n\nText ${at}.\n`;
  repository.commit(Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`${at}.md`, fileOf(at)])));
  team = await SkillTeam.start({
    sources: NAMES.map((name) => ({ name: 'docs', path: repository.path, tenant: tenantOf(name) })),
    // Whoever waits for an answer is told soon that it goes on.
    waitMs: 50,
    mcpTasks: ({ capability }) => (capability === 'knowledge_sync' ? 'preferred' : 'asked'),
  });
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  repository[Symbol.dispose]();
  git[Symbol.dispose]();
});

describe.each(NAMES)('A sync that takes long, by %s', (name) => {
  let way: LongWay;
  let lead: SkillUser;
  beforeAll(() => {
    way = longWays(team).find((one) => one.name === name) as LongWay;
    lead = team.user(tenantOf(name), 'tech-lead');
  });
  const count = async () =>
    outputOf(await team.door('envelopes').call(lead, 'knowledge_query', { limit: 1 })).totalCount;

  it('says how far it is, is cancelled half-way, keeps what was done, and is gone on with (A-10, A-11)', async () => {
    const read = git.wanted.length;
    const call = await way.begin(lead, 'knowledge_sync', {});
    await git.waits();
    expect(await call.stands()).toMatchObject({ state: 'working' });
    expect(await count()).toBe(0);
    await git.pass();
    const told = await until('it says how far it is', async () => {
      const standing = await call.stands();
      return standing.note !== undefined && standing.note !== '' && standing;
    });
    expect(told).toMatchObject({ state: 'working', note: `${BATCH} of ${FILES} files of docs` });
    if (name !== 'MCP as a task') expect(told.fraction).toBe(BATCH / FILES);
    await git.waits();
    await call.cancel();
    await git.ended();
    expect((await call.stands()).state).toBe('canceled');
    expect(await count()).toBe(BATCH);

    const again = await way.begin(lead, 'knowledge_sync', {});
    await git.pass();
    await git.pass();
    await until('it is done', async () => (await again.stands()).state === 'completed');
    expect(await count()).toBe(FILES);
    expect(git.wanted.slice(read)).toEqual([100, 100, 100, 50]);
  });
});
