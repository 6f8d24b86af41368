import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KnowledgeDocument } from '../../../../../actors/skills/knowledge/knowledge-document.ts';
import { KnowledgeViews } from '../../../../../actors/skills/knowledge/knowledge-views.ts';
import {
  type KnowledgeQuery,
  queryKnowledge,
} from '../../../../../actors/skills/knowledge/query-knowledge.ts';
import { ADMIN, callerOf, type OpenKnowledge, openKnowledge } from '../../../../fixtures/skills/knowledge.ts';

let knowledge: OpenKnowledge;
beforeEach(async () => {
  knowledge = await openKnowledge();
});
afterEach(() => knowledge.store.close());

const find = (wanted: Partial<KnowledgeQuery> = {}, tenant = 'acme') =>
  knowledge.views.use(tenant, (view) => queryKnowledge(view, { status: 'accepted', limit: 10, ...wanted }));
const ids = async (wanted: Partial<KnowledgeQuery> = {}, tenant?: string) =>
  (await find(wanted, tenant)).found.map(({ item }) => item.id);

describe('A query of knowledge (A-15)', () => {
  it('finds by words, what fits best first', async () => {
    const { add } = knowledge;
    await add({ title: 'Which database', content: 'SQLite.' });
    await add({ title: 'Cache answers', content: 'Ask the database once.' });
    await add({ title: 'Name branches', content: 'After the issue.' });
    expect(await ids({ query: 'which database' })).toEqual(['k1', 'k2']);
    expect(await ids({ query: 'cached databases' })).toEqual(['k2', 'k1']);
    const { found, totalCount } = await find({ query: 'SQLite' });
    expect(totalCount).toBe(1);
    expect(found[0]?.score).toBeGreaterThan(0);
    expect(found[0]?.score).toBeLessThanOrEqual(1);
  });

  it('finds the newest first when no words are asked for', async () => {
    for (const title of ['a', 'b', 'c']) await knowledge.add({ title });
    expect(await ids()).toEqual(['k3', 'k2', 'k1']);
    expect(await ids({ query: '  ' })).toEqual(['k3', 'k2', 'k1']);
  });

  it('summarises what has no summary by its first paragraph', async () => {
    await knowledge.add({ summary: 'In short', content: '# Head\n\nLong.' });
    await knowledge.add({ content: '# Head\n\nThe first\nparagraph.\n\nThe second.' });
    await knowledge.add({ content: `${'x'.repeat(239)}😀 and more` });
    const { found } = await find();
    expect(found.map(({ item }) => item.summary).reverse()).toEqual([
      'In short',
      'The first paragraph.',
      `${'x'.repeat(239)}\uFFFD…`,
    ]);
  });

  it('takes what is of the type, layer, scope and status, and has all tags', async () => {
    const { add } = knowledge;
    await add({ type: 'policy', layer: 'org', scope: 'eu', tags: ['a', 'b'] });
    await add({ type: 'adr', layer: 'team', tags: ['a'] });
    await add({ status: 'draft' });
    expect(await ids({ type: 'policy' })).toEqual(['k1']);
    expect(await ids({ layer: 'team' })).toEqual(['k2']);
    expect(await ids({ scope: 'eu' })).toEqual(['k1']);
    expect(await ids({ scope: '' })).toEqual(['k2']);
    expect(await ids({ tags: ['a'] })).toEqual(['k2', 'k1']);
    expect(await ids({ tags: ['a', 'b'] })).toEqual(['k1']);
    expect(await ids({ status: 'draft' })).toEqual(['k3']);
  });

  it('finds nothing that holds no more, unless it is asked for', async () => {
    const { add, items } = knowledge;
    const old = await add({ layer: 'team' });
    const gone = await add();
    await items.setStatus(ADMIN, gone.id, 'deprecated');
    const next = await add({ layer: 'team', status: 'proposed', supersedes: [old.id] });
    expect(await ids()).toEqual([old.id]);
    await items.setStatus(ADMIN, next.id, 'accepted');
    expect(await ids()).toEqual([next.id]);
    expect(await ids({ status: 'superseded' })).toEqual([old.id]);
    expect(await ids({ status: 'deprecated' })).toEqual([gone.id]);
    await items.remove(ADMIN, next.id);
    expect(await ids()).toEqual([old.id]);
  });

  it('shows the knowledge of the tenant alone (A-05)', async () => {
    const { add } = knowledge;
    await add({ title: 'Ours' });
    await add({ title: 'Theirs', content: 'ours' }, callerOf('admin', 'globex'));
    expect(await ids({ query: 'ours theirs' })).toEqual(['k1']);
    expect(await ids({}, 'globex')).toEqual(['k2']);
    expect(await ids({}, 'nobody')).toEqual([]);
    const { found } = await find({ query: 'ours' });
    await add({ content: 'ours ours ours' }, callerOf('admin', 'globex'));
    expect((await find({ query: 'ours' })).found).toEqual(found);
  });

  it('refuses what is no cursor', async () => {
    for (const cursor of [
      'x',
      Buffer.from('[1,2]').toString('base64url'),
      Buffer.from('null').toString('base64url'),
    ])
      await expect(find({ cursor })).rejects.toMatchObject({
        code: 'INVALID_PAYLOAD',
        message: expect.stringContaining(`cursor is ${JSON.stringify(cursor)}`),
      });
  });

  it('sees at once what others have written to the store', async () => {
    const others = new KnowledgeViews(knowledge.store);
    await knowledge.add();
    expect(await ids()).toEqual(['k1']);
    await others.use('acme', () => undefined);
    await knowledge.items.remove(ADMIN, 'k1');
    expect(await others.use('acme', (view) => [...view.items])).toEqual([]);
  });

  it('holds the views of few tenants, and makes the others anew', async () => {
    const views = new KnowledgeViews(knowledge.store, 1);
    await knowledge.add();
    for (const tenant of ['acme', 'globex', 'acme'])
      expect(await views.use(tenant, (view) => [...view.items].length)).toBe(tenant === 'acme' ? 1 : 0);
  });

  it('gives all pages together what one page would, and each item once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ title: fc.constantFrom('a', 'b', 'a b', 'c'), content: fc.constantFrom('', 'a', 'b') }),
          {
            maxLength: 12,
          },
        ),
        fc.constantFrom(undefined, 'a', 'a b'),
        fc.integer({ min: 1, max: 5 }),
        async (documents, query, limit) => {
          await using opened = await open();
          for (const document of documents) await opened.add(document);
          const page = (cursor?: string, most = limit) =>
            opened.views.use('acme', (view) =>
              queryKnowledge(view, { query, status: 'accepted', limit: most, cursor }),
            );
          const all = await page(undefined, 100);
          const seen: string[] = [];
          for (
            let cursor: string | undefined, isFirst = true;
            isFirst || cursor !== undefined;
            isFirst = false
          ) {
            const next = await page(cursor);
            expect(next.totalCount).toBe(all.totalCount);
            expect(next.found.length).toBeLessThanOrEqual(limit);
            seen.push(...next.found.map(({ item }) => item.id));
            cursor = next.cursor;
          }
          expect(seen).toEqual(all.found.map(({ item }) => item.id));
        },
      ),
    );
  });

  it('finds in a view that was kept up to date what one made anew finds', async () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'a b') }),
      fc.record({ remove: fc.nat(30) }),
      fc.record({ deprecate: fc.nat(30) }),
      fc.constant({ look: true }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 150, size: 'max' }), async (steps) => {
        await using opened = await open();
        const known: string[] = [];
        for (const one of steps) {
          if ('add' in one) known.push((await opened.add({ title: one.add })).id);
          else if ('remove' in one) {
            const [id] = known.splice(one.remove, 1);
            if (id !== undefined) await opened.items.remove(ADMIN, id);
          } else if ('deprecate' in one) {
            const id = known[one.deprecate];
            if (id !== undefined)
              await opened.items.setStatus(ADMIN, id, 'deprecated').catch(() => undefined);
          } else await opened.views.use('acme', () => undefined);
        }
        const anew = new KnowledgeViews(opened.store);
        for (const query of [undefined, 'a', 'b'])
          for (const status of ['accepted', 'deprecated'] as const) {
            const [kept, made] = await Promise.all(
              [opened.views, anew].map((views) =>
                views.use('acme', (view) =>
                  queryKnowledge(view, { query, status, limit: 100 }).found.map(({ item, score }) => [
                    item.id,
                    score,
                  ]),
                ),
              ),
            );
            expect(kept).toEqual(made);
          }
      }),
      { numRuns: 30 },
    );
  });
});

async function open() {
  const opened = await openKnowledge();
  const add = (document: Partial<KnowledgeDocument>) => opened.add(document);
  return { ...opened, add, [Symbol.asyncDispose]: () => opened.store.close() };
}
