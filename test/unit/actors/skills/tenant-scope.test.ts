import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { describe, expect, it } from 'vitest';
import type { SkillTables } from '../../../../actors/skills/store/skill-tables.ts';
import { TenantScope } from '../../../../actors/skills/store/tenant-scope.ts';

const db = new Kysely<SkillTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (known) => new PostgresIntrospector(known),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}).withPlugin(new TenantScope('acme'));

const said = (query: { compile(): { sql: string; parameters: readonly unknown[] } }): string => {
  const { sql: text, parameters } = query.compile();
  return parameters.reduce<string>((so, value, at) => so.replace(`$${at + 1}`, JSON.stringify(value)), text);
};

const removed = (id: string, revision: number) => ({ id, layer: 1, owner: '', scope: 'x', revision });

describe('A query that is confined to a tenant (A-05)', () => {
  it('reads its rows alone, whatever its own condition says', () => {
    const either = db
      .selectFrom('memories')
      .select('id')
      .where((eb) => eb.or([eb('layer', '=', 1), eb('layer', '=', 2)]))
      .orderBy('created_at', 'desc')
      .limit(3);
    expect(said(either)).toBe(
      'select "id" from "memories" where (("layer" = 1 or "layer" = 2)) and "memories"."tenant" = "acme" order by "created_at" desc limit 3',
    );
    expect(said(db.selectFrom('memories as m').select('m.id'))).toContain('where "m"."tenant" = "acme"');
  });

  it('confines each table of a join, and queries within it', () => {
    const joined = db
      .selectFrom('memories')
      .leftJoin('memory_vectors as v', 'v.id', 'memories.id')
      .select('memories.id')
      .where('memories.id', 'not in', (eb) => eb.selectFrom('removed_memories').select('id'));
    expect(said(joined)).toBe(
      'select "memories"."id" from "memories" left join "memory_vectors" as "v" on ("v"."id" = "memories"."id") and "v"."tenant" = "acme" where ("memories"."id" not in (select "id" from "removed_memories" where "removed_memories"."tenant" = "acme")) and "memories"."tenant" = "acme"',
    );
    const within = db.selectFrom((eb) => eb.selectFrom('memories').select('id').as('some')).select('some.id');
    expect(said(within)).toBe(
      'select "some"."id" from (select "id" from "memories" where "memories"."tenant" = "acme") as "some"',
    );
  });

  it('changes and removes its rows alone', () => {
    expect(said(db.updateTable('memories').set({ scope: 'x' }).where('id', '=', 'm1'))).toBe(
      'update "memories" set "scope" = "x" where ("id" = "m1") and "memories"."tenant" = "acme"',
    );
    expect(said(db.deleteFrom('memories'))).toBe('delete from "memories" where "memories"."tenant" = "acme"');
  });

  it('inserts rows of its own', () => {
    const inserted = db.insertInto('removed_memories').values([removed('a', 1), removed('b', 2)]);
    expect(said(inserted)).toBe(
      'insert into "removed_memories" ("id", "layer", "owner", "scope", "revision", "tenant") values ("a", 1, "", "x", 1, "acme"), ("b", 1, "", "x", 2, "acme")',
    );
  });

  it.each([
    ['SQL as text', () => sql`select * from memories`.compile(db)],
    ['a condition as text', () => db.selectFrom('memories').selectAll().where(sql<boolean>`1 = 1`).compile()],
    [
      'a column as text',
      () => db.selectFrom('memories').select(sql<string>`(select id from memories)`.as('x')).compile(),
    ],
    [
      'a common table expression',
      () =>
        db
          .with('all', (eb) => eb.selectFrom('memories').select('id'))
          .selectFrom('all')
          .select('id')
          .compile(),
    ],
    [
      'a union',
      () =>
        db
          .selectFrom('memories')
          .select('id')
          .union(db.selectFrom('removed_memories').select('id'))
          .compile(),
    ],
    [
      'what it selects, inserted',
      () =>
        db
          .insertInto('removed_memories')
          .columns(['id', 'revision'])
          .expression((eb) => eb.selectFrom('memories').select(['id', 'revision']))
          .compile(),
    ],
    [
      'a tenant that it names itself',
      () =>
        db
          .insertInto('removed_memories')
          .values({ ...removed('a', 1), tenant: 'other' } as never)
          .compile(),
    ],
    [
      'another tenant for a row',
      () =>
        db
          .updateTable('memories')
          .set({ tenant: 'other' } as never)
          .compile(),
    ],
    [
      'a conflict that rows of others could be in',
      () =>
        db
          .insertInto('removed_memories')
          .values(removed('a', 1))
          .onConflict((conflict) => conflict.column('id').doNothing())
          .compile(),
    ],
    ['a change of the tables', () => db.schema.dropTable('memories').compile()],
  ])('is refused with %s', (_, compile) => {
    expect(compile).toThrow(/^A query cannot be confined to its tenant: /);
  });
});
