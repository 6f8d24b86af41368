import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KnowledgeLayer } from '../../../../../actors/skills/knowledge/knowledge-layer.ts';
import {
  type KnowledgeStatus,
  NEXT_STATUS,
} from '../../../../../actors/skills/knowledge/knowledge-status.ts';
import type { Role } from '../../../../../actors/skills/role.ts';
import {
  ADMIN,
  callerOf,
  documentOf,
  type OpenKnowledge,
  openKnowledge,
} from '../../../../fixtures/skills/knowledge.ts';

const STATUSES = Object.keys(NEXT_STATUS) as KnowledgeStatus[];
const LAYERS: readonly [KnowledgeLayer, Role, Role][] = [
  ['project', 'developer', 'viewer'],
  ['team', 'tech-lead', 'developer'],
  ['org', 'architect', 'tech-lead'],
  ['company', 'admin', 'architect'],
];

let knowledge: OpenKnowledge;
beforeEach(async () => {
  knowledge = await openKnowledge();
});
afterEach(() => knowledge.store.close());

const none = (id: string) => ({ code: 'REFUSED', message: `There is no knowledge item "${id}"` });

describe('An item of knowledge that is added', () => {
  it('is kept with all that it says, and by whom it was said', async () => {
    const { items, add } = knowledge;
    const said = {
      title: 'Use SQLite',
      content: 'Because.',
      tags: ['db'],
      summary: 'One file',
      severity: 'block',
      scope: 'shop',
      metadata: { votes: 3 },
      constraints: [{ operator: 'MustNotUse', target: 'dependency', value: 'mongodb' }],
    } as const;
    const { id } = await add(said);
    expect(await items.find(ADMIN, id)).toMatchObject({
      ...said,
      id: 'k1',
      layer: 'project',
      author: 'key:admin',
      origin: undefined,
      taint: undefined,
      version: 1,
      createdAtMs: 1_000,
      updatedAtMs: 1_000,
    });
  });

  it.each(LAYERS)(
    'is accepted in the layer %s by the role %s, and not by %s (A-06)',
    async (layer, may, mayNot) => {
      const { add } = knowledge;
      await expect(add({ layer }, callerOf(mayNot))).rejects.toMatchObject({
        code: 'NOT_PERMITTED',
        details: { needed: may, role: mayNot },
      });
      expect(await add({ layer }, callerOf(may))).toMatchObject({ layer, status: 'accepted' });
      if (mayNot !== 'viewer')
        expect(await add({ layer, status: 'draft' }, callerOf(mayNot))).toMatchObject({ status: 'draft' });
    },
  );

  it('is refused with a pattern that is none', async () => {
    const constraints = [{ operator: 'MustMatch', target: 'code', value: '(' }] as const;
    await expect(knowledge.add({ constraints })).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('constraints[0] is no rule'),
    });
  });

  it('supersedes what is there, in its own layer and scope or a narrower layer', async () => {
    const { add } = knowledge;
    const team = await add({ layer: 'team', scope: 'web' });
    const project = await add({ scope: 'shop' });
    await add({ layer: 'org', supersedes: [team.id, project.id] });
    await add({ layer: 'team', scope: 'web', supersedes: [team.id] });
    await add({ layer: 'team', supersedes: [team.id] });
    await expect(add({ layer: 'team', scope: 'app', supersedes: [team.id] })).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('"k1" is of the layer team (web)'),
    });
    await expect(add({ scope: 'web', supersedes: [team.id] })).rejects.toMatchObject({ code: 'REFUSED' });
    await expect(add({ supersedes: ['k99'] })).rejects.toMatchObject(none('k99'));
  });

  it('is nowhere for another tenant, whatever that one does (A-05)', async () => {
    const { add, items } = knowledge;
    const { id } = await add({ status: 'proposed' });
    const other = callerOf('admin', 'globex');
    for (const deed of [
      items.find(other, id),
      items.setStatus(other, id, 'accepted'),
      items.remove(other, id),
      items.promotable(other, id, { toLayer: 'org', scope: '' }),
      items.add(other, documentOf({ supersedes: [id] }), undefined),
    ])
      await expect(deed).rejects.toMatchObject(none(id));
    expect(await items.versions(other, id)).toEqual([]);
    expect(await items.find(ADMIN, id)).toMatchObject({ status: 'proposed' });
  });
});

describe('The status of an item', () => {
  it.each(STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)))(
    'changes as the table says: from %s to %s',
    async (from, to) => {
      const { add, items } = knowledge;
      const { id } = await add({ status: from });
      const change = items.setStatus(ADMIN, id, to);
      if (NEXT_STATUS[from].includes(to)) {
        expect(await change).toMatchObject({ status: to, version: 2 });
        expect(await items.find(ADMIN, id)).toMatchObject({ status: to, version: 2, createdAtMs: 1_000 });
        expect(await items.versions(ADMIN, id)).toMatchObject([
          { version: 1, status: from, author: 'key:admin' },
        ]);
      } else {
        await expect(change).rejects.toMatchObject({ code: 'REFUSED', details: { status: from } });
        expect(await items.find(ADMIN, id)).toMatchObject({ status: from, version: 1 });
      }
    },
  );

  it('is decided on by the role of the layer, and proposed by any developer', async () => {
    const { add, items } = knowledge;
    const { id } = await add({ layer: 'org', status: 'draft' });
    const developer = callerOf('developer');
    await expect(items.setStatus(callerOf('viewer'), id, 'proposed')).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
    });
    await items.setStatus(developer, id, 'proposed');
    await expect(items.setStatus(developer, id, 'accepted')).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    await items.setStatus(callerOf('architect'), id, 'accepted');
    await expect(items.setStatus(developer, id, 'deprecated')).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
    });
  });

  it('is changed once, however many change it at the same time', async () => {
    const { add, items } = knowledge;
    const { id } = await add();
    const changes = await Promise.allSettled(
      Array.from({ length: 5 }, () => items.setStatus(ADMIN, id, 'deprecated')),
    );
    expect(changes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await items.versions(ADMIN, id)).toHaveLength(1);
  });
});

describe('An item that is promoted', () => {
  it('says the same in a wider layer, and stays where it was', async () => {
    const { add, items } = knowledge;
    const from = await add({ content: 'Because.', scope: 'shop', supersedes: [] });
    const made = await items.promote(ADMIN, from, { toLayer: 'team', scope: 'web', taint: ['web:a'] });
    expect(made).toMatchObject({
      id: 'k2',
      layer: 'team',
      scope: 'web',
      content: 'Because.',
      status: 'accepted',
      promotedFrom: from.id,
      taint: ['web:a'],
    });
    expect(await items.find(ADMIN, from.id)).toMatchObject({ layer: 'project', scope: 'shop', version: 1 });
  });

  it('is promoted to one place once', async () => {
    const { add, items } = knowledge;
    const from = await add();
    const to = { toLayer: 'org', scope: '', taint: undefined } as const;
    const made = await items.promote(ADMIN, from, to);
    expect((await items.promotable(ADMIN, from.id, to)).made?.id).toBe(made.id);
    expect((await items.promote(ADMIN, from, to)).id).toBe(made.id);
    expect((await items.promote(ADMIN, from, { ...to, scope: 'eu' })).id).not.toBe(made.id);
  });

  it.each(LAYERS.slice(1))('takes, to the layer %s, the role %s', async (toLayer, may, mayNot) => {
    const { add, items } = knowledge;
    const { id } = await add();
    await expect(items.promotable(callerOf(mayNot), id, { toLayer, scope: '' })).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
      details: { needed: may },
    });
    expect((await items.promotable(callerOf(may), id, { toLayer, scope: '' })).item.id).toBe(id);
  });

  it('goes upward only, and is accepted', async () => {
    const { add, items } = knowledge;
    const org = await add({ layer: 'org' });
    for (const toLayer of ['project', 'team', 'org'] as const)
      await expect(items.promotable(ADMIN, org.id, { toLayer, scope: '' })).rejects.toMatchObject({
        code: 'REFUSED',
      });
    for (const status of STATUSES.filter((one) => one !== 'accepted')) {
      const { id } = await add({ status });
      await expect(items.promotable(ADMIN, id, { toLayer: 'org', scope: '' })).rejects.toMatchObject({
        message: expect.stringContaining(`is ${status}`),
      });
    }
  });

  it('is what was looked at: of one that was changed nothing is made', async () => {
    const { add, items } = knowledge;
    const from = await add();
    const to = { toLayer: 'org', scope: '', taint: undefined } as const;
    await expect(items.promote(ADMIN, { ...from, content: 'Something else' }, to)).rejects.toMatchObject({
      message: expect.stringContaining('changed meanwhile'),
    });
  });
});

describe('An item that is removed', () => {
  it('is gone with what it said before, and its id can be given again', async () => {
    const { add, items } = knowledge;
    const { id } = await add({ status: 'draft' });
    await items.setStatus(ADMIN, id, 'proposed');
    await items.remove(ADMIN, id);
    await expect(items.find(ADMIN, id)).rejects.toMatchObject(none(id));
    expect(await items.versions(ADMIN, id)).toEqual([]);
    await expect(items.remove(ADMIN, id)).rejects.toMatchObject(none(id));
  });

  it('takes the role of its layer, but for an own draft', async () => {
    const { add, items } = knowledge;
    const developer = callerOf('developer');
    const own = await add({ layer: 'org', status: 'draft' }, developer);
    const others = await add({ layer: 'org', status: 'draft' });
    await items.remove(developer, own.id);
    await expect(items.remove(developer, others.id)).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    await items.remove(callerOf('architect'), others.id);
  });
});
