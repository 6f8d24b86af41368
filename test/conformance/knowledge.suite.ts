import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkKnowledge } from '../../actors/skills/knowledge/check-knowledge.ts';
import { KnowledgeItems } from '../../actors/skills/knowledge/knowledge-items.ts';
import { KnowledgeSource } from '../../actors/skills/knowledge/knowledge-source.ts';
import { queryKnowledge } from '../../actors/skills/knowledge/query-knowledge.ts';
import { syncKnowledge } from '../../actors/skills/knowledge/sync-knowledge.ts';
import type { SkillStore } from '../../actors/skills/store/skill-store.ts';
import { TestFolder } from '../fixtures/skills/git-repository.ts';
import {
  ADMIN,
  callerOf,
  documentOf,
  type OpenKnowledge,
  openKnowledge,
} from '../fixtures/skills/knowledge.ts';

/** What knowledge promises over every store. `open` gives a new connection to the same database each time. */
export function describeKnowledge(name: string, open: () => Promise<SkillStore>): void {
  describe(`Knowledge over the store: ${name}`, () => {
    let knowledge: OpenKnowledge;
    let other: OpenKnowledge;
    let folder: TestFolder;
    beforeEach(async () => {
      knowledge = await openKnowledge(await open());
      other = await openKnowledge(await open());
      folder = new TestFolder();
    });
    afterEach(async () => {
      await knowledge.store.close();
      await other.store.close();
      folder[Symbol.dispose]();
    });

    const found = ({ views }: OpenKnowledge, tenant = 'acme') =>
      views.use(tenant, (view) => {
        const { found: all } = queryKnowledge(view, { status: 'accepted', limit: 1_000 });
        return all.map(({ item }) => item.id).sort();
      });

    it('keeps, changes, promotes and removes items, which others see at once', async () => {
      const { items, add } = knowledge;
      const constraints = [{ operator: 'MustNotUse', target: 'dependency', value: 'a' }] as const;
      const { id } = await add({
        status: 'proposed',
        constraints,
        metadata: { votes: 0.5 },
        tags: ['ä', '😀'],
      });
      await items.setStatus(ADMIN, id, 'accepted');
      expect(await other.items.find(ADMIN, id)).toEqual({
        ...(await items.find(ADMIN, id)),
        status: 'accepted',
        metadata: { votes: 0.5 },
        tags: ['ä', '😀'],
        version: 2,
      });
      const to = { toLayer: 'org', scope: 'eu', taint: ['web:a'] } as const;
      const made = await items.promote(ADMIN, await items.find(ADMIN, id), to);
      expect((await other.items.promote(ADMIN, await items.find(ADMIN, id), to)).id).toBe(made.id);
      expect(await found(other)).toEqual([id, made.id]);
      await other.views.use('acme', (view) => {
        const { violations } = checkKnowledge(
          view,
          { dependencies: [{ name: 'a' }] },
          { minSeverity: 'warn' },
        );
        expect(violations).toHaveLength(2);
      });
      await items.remove(ADMIN, id);
      expect(await found(other)).toEqual([made.id]);
      expect(await items.versions(ADMIN, id)).toEqual([]);
    });

    it('keeps the same id apart for each tenant (A-05)', async () => {
      await knowledge.add();
      await other.add({ title: 'Theirs' }, callerOf('admin', 'globex'));
      await knowledge.items.remove(ADMIN, 'k1');
      expect(await found(knowledge)).toEqual([]);
      expect(await found(knowledge, 'globex')).toEqual(['k1']);
    });

    it('changes an item once, whoever changes it at the same time', async () => {
      const { id } = await knowledge.add();
      const changes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, at) =>
          (at % 2 === 0 ? knowledge : other).items.setStatus(ADMIN, id, 'deprecated'),
        ),
      );
      expect(changes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await other.items.versions(ADMIN, id)).toHaveLength(1);
    });

    it('loses nothing that others write while it reads', async () => {
      const ids = Array.from({ length: 30 }, (_, at) => `w${at}`);
      await Promise.all(
        ids.flatMap((id, at) => {
          const { store, seams } = at % 2 === 0 ? knowledge : other;
          const writer = new KnowledgeItems({ store, now: seams.now, newId: () => id });
          return [writer.add(ADMIN, documentOf({ title: id }), undefined), found(knowledge), found(other)];
        }),
      );
      expect(await found(knowledge)).toEqual(ids.toSorted());
      expect(await found(other)).toEqual(ids.toSorted());
    });

    it('brings the items of a source up to its files, also when two do at once', async () => {
      const source = KnowledgeSource.parse({ name: 'docs', path: folder.path, tenant: 'acme' });
      const file = (title: string) => `---\ntype: adr\ntitle: ${title}\nstatus: accepted\n---\n`;
      const names = Array.from({ length: 120 }, (_, at) => `${at}.md`);
      const sync = ({ store }: OpenKnowledge) =>
        syncKnowledge(store, source, {
          signal: new AbortController().signal,
          effect: async (_name, run) => run(new AbortController().signal),
        });
      folder.put(Object.fromEntries(names.map((one) => [one, file('One')])));
      await Promise.all([sync(knowledge), sync(other)]);
      folder.put(Object.fromEntries(names.map((one, at) => [one, at < 10 ? null : file('Two')])));
      await Promise.all([sync(knowledge), sync(other)]);
      expect(await found(knowledge)).toHaveLength(110);
      expect(await other.items.find(ADMIN, '50')).toMatchObject({ title: 'Two' });
      expect(await sync(other)).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 110 });
    });
  });
}
