import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Door, SkillUser } from '../fixtures/skills/doors.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';

let team: SkillTeam;
let users: Readonly<Record<'ann' | 'bob' | 'chief' | 'reader' | 'eve', SkillUser>>;
beforeAll(async () => {
  team = await SkillTeam.start();
  users = {
    ann: team.user('acme', 'developer'),
    bob: team.user('acme', 'developer'),
    chief: team.user('acme', 'admin'),
    reader: team.user('acme', 'viewer'),
    eve: team.user('evil', 'admin'),
  };
});
afterAll(() => team[Symbol.asyncDispose]());

describe.each(SkillTeam.doorNames)('Memory by %s', (name) => {
  let door: Door;
  const done = async (...call: Parameters<Door['call']>) => outputOf(await door.call(...call));
  beforeAll(() => {
    door = team.door(name);
  });

  it('remembers a text, finds it again, and forgets it (A-07, A-12, A-13, A-14, C-19)', async () => {
    const content = `The gateway of ${name} listens on port 4710`;
    const added = await done(users.ann, 'memory_add', { content, tags: ['ports'] });
    expect(added).toMatchObject({
      success: true,
      layer: 'user',
      duplicate: false,
      memory_id: expect.any(String),
    });
    const found = await done(users.ann, 'memory_search', {
      query: `which port does the gateway of ${name} listen on`,
    });
    expect(found.results[0]).toMatchObject({
      memory_id: added.memory_id,
      content,
      tags: ['ports'],
      layer: 'user',
    });
    for (const named of ['memory_id', 'id', 'memoryId'])
      expect(await done(users.ann, 'memory_get', { [named]: added.memory_id })).toMatchObject({
        memory: { content },
      });
    expect(await done(users.ann, 'memory_delete', { memory_id: added.memory_id })).toMatchObject({
      success: true,
      memory_id: added.memory_id,
    });
    expect((await done(users.ann, 'memory_list', {})).memories).toEqual([]);
  });

  it('shows nobody what is of another principal or tenant (A-04, A-05)', async () => {
    const { memory_id } = await done(users.ann, 'memory_add', { content: `The secret of ${name} is plum` });
    for (const other of [users.bob, users.chief, users.eve]) {
      expect(await done(other, 'memory_search', { query: `secret of ${name} plum` })).toMatchObject({
        results: [],
      });
      const refusals = [];
      for (const tool of ['memory_get', 'memory_delete'])
        for (const id of [memory_id, 'AAAAAAAAAAAAAAAAAAAAAA'])
          refusals.push(await door.call(other, tool, { memory_id: id }));
      const told = (id: string) => ({
        kind: 'failed',
        code: 'REFUSED',
        message: `There is no memory "${id}"`,
      });
      expect(refusals).toEqual([
        told(memory_id),
        told('AAAAAAAAAAAAAAAAAAAAAA'),
        told(memory_id),
        told('AAAAAAAAAAAAAAAAAAAAAA'),
      ]);
    }
    await done(users.ann, 'memory_delete', { memory_id });
  });

  it('refuses who may not write there with UNAUTHORIZED (A-06)', async () => {
    for (const [who, layer] of [
      [users.reader, 'user'],
      [users.ann, 'team'],
      [users.ann, 'company'],
    ] as const)
      expect(await door.call(who, 'memory_add', { content: 'No', layer })).toMatchObject({
        kind: 'failed',
        code: 'UNAUTHORIZED',
        message: expect.stringContaining(`write memories of the layer ${layer}`),
      });
  });

  it('names field and value of what it cannot take (A-20)', async () => {
    for (const [args, field] of [
      [{ content: '' }, 'content'],
      [{ content: 'x', layer: 'galaxy' }, 'layer'],
      [{ content: 'a\0b' }, 'content'],
      [{ content: 'x', tags: 'all' }, 'tags'],
    ] as const) {
      const outcome = await door.call(users.ann, 'memory_add', args);
      expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining(field) });
    }
  });

  it('asks which memory is meant, and goes on with the answer (A-08, A-09)', async () => {
    const subject = `limit of ${name}`;
    const user = await done(users.ann, 'memory_add', { content: 'Ten at a time', subject });
    const project = await done(users.ann, 'memory_add', {
      content: 'Twenty at a time',
      subject,
      layer: 'project',
    });
    expect(project.contradicts).toMatchObject([{ memory_id: user.memory_id, content: 'Ten at a time' }]);
    const asked = await door.call(users.ann, 'memory_update', { subject, content: 'Thirty at a time' });
    if (asked.kind !== 'question') throw new Error(JSON.stringify(asked));
    expect(asked.question).toContain(`Which memory about "${subject}"?`);
    const answer = { which: { action: 'accept', content: { memory_id: project.memory_id } } };
    expect(outputOf(await door.answer(users.ann, asked.ticket, answer))).toMatchObject({
      memory_id: project.memory_id,
      version: 2,
    });
    for (const { memory_id } of [user, project]) await done(users.ann, 'memory_delete', { memory_id });
  });
});
