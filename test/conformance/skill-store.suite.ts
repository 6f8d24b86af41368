import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillStore, TenantQueries } from '../../actors/skills/store/skill-store.ts';

const OTHERS = ['globex', 'ACME', 'acme ', "acme' or '1'='1", '%', ''];

const removed = (id: string, revision = 1) => ({ id, layer: 1, owner: '', scope: 'x', revision });

/** What every store of the skills promises. `open` gives a new connection to the same database each time. */
export function describeSkillStore(name: string, open: () => Promise<SkillStore>): void {
  describe(`The store of the skills: ${name}`, () => {
    let store: SkillStore;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    const put = (tenant: string, id: string, scope = 'x') =>
      store.write(tenant, (queries) =>
        queries.insertInto('removed_memories').values(removed(id, scope.length)).execute(),
      );
    const ids = async (tenant: string, of = store) => (await of.read(tenant, all)).map(({ id }) => id);
    const all = (queries: TenantQueries) =>
      queries.selectFrom('removed_memories').selectAll().orderBy('id').execute();

    it('keeps what is written for whoever opens it next', async () => {
      await put('acme', 'a');
      const next = await open();
      try {
        expect(await ids('acme', next)).toEqual(['a']);
      } finally {
        await next.close();
      }
    });

    it('keeps the same key apart for each tenant', async () => {
      await put('acme', 'a');
      for (const [at, other] of OTHERS.entries()) await put(other, 'a', 'x'.repeat(at + 2));
      expect(await store.read('acme', all)).toEqual([{ ...removed('a'), tenant: 'acme' }]);
      await expect(put('acme', 'a')).rejects.toMatchObject({ code: 'STORE_FAILED' });
    });

    it.each(OTHERS)('shows, changes and removes nothing of another tenant: for "%s"', async (other) => {
      await put('acme', 'a');
      expect(await ids(other)).toEqual([]);
      await store.write(other, async (queries) => {
        await queries.updateTable('removed_memories').set({ revision: 99 }).execute();
        await queries.deleteFrom('removed_memories').execute();
      });
      expect(await store.read('acme', all)).toEqual([{ ...removed('a'), tenant: 'acme' }]);
    });

    it('writes all or nothing', async () => {
      const broken = store.write('acme', async (queries) => {
        await queries.insertInto('removed_memories').values(removed('a')).execute();
        throw new Error('of the test');
      });
      await expect(broken).rejects.toThrow('of the test');
      expect(await ids('acme')).toEqual([]);
    });

    it('loses no count of writers at the same time, also in other connections', async () => {
      const other = await open();
      try {
        const count = (of: SkillStore) =>
          of.write('acme', async (queries) => {
            await queries
              .insertInto('tenants')
              .values({ revision: 1, memories: 0 })
              .onConflict((conflict) =>
                conflict
                  .columns(['tenant' as never])
                  .doUpdateSet((eb) => ({ revision: eb('tenants.revision', '+', 1) })),
              )
              .execute();
          });
        await Promise.all(Array.from({ length: 40 }, (_, at) => count(at % 2 === 0 ? store : other)));
        const [row] = await store.read('acme', (queries) =>
          queries.selectFrom('tenants').selectAll().execute(),
        );
        expect(row?.revision).toBe(40);
      } finally {
        await other.close();
      }
    });

    it('refuses to write where it was only to read', async () => {
      await put('acme', 'a');
      await expect(
        store.read('acme', (queries) => queries.deleteFrom('removed_memories').execute()),
      ).rejects.toMatchObject({ code: 'STORE_FAILED' });
      expect(await ids('acme')).toEqual(['a']);
    });
  });
}
