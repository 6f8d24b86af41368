import type { CreateTableBuilder, Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { GOVERNANCE_TABLES } from './governance-tables.ts';
import { KNOWLEDGE_TABLES } from './knowledge-tables.ts';
import { memoryTables } from './memory-tables.ts';
import { type SkillTables, TENANT_TABLES } from './skill-tables.ts';
import type { Columns, ColumnTypes, Table } from './table.ts';
import { TENANT } from './tenant-scope.ts';

/** What differs between databases. */
export interface Dialect extends ColumnTypes {
  /** Has the database itself keep tenants apart in a table. */
  readonly keepApart?: (db: Kysely<unknown>, table: string) => Promise<void>;
}

/** Brings the tables up to what this version needs. When it fails, nothing of the migration that failed is there. */
export async function migrate(db: Kysely<SkillTables>, dialect: Dialect): Promise<void> {
  const provider = {
    getMigrations: async () => ({
      '0001-memories': makes([...TENANT_TABLES, ...memoryTables(dialect)], dialect),
      '0002-knowledge': makes(KNOWLEDGE_TABLES, dialect),
      '0003-governance': makes(GOVERNANCE_TABLES, dialect),
    }),
  };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
}

const makes = (tables: readonly Table[], { keepApart }: Dialect): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const table of tables) {
      await make(db, table);
      await keepApart?.(db, table.name);
    }
  },
});

async function make(db: Kysely<unknown>, { name, columns, key, indexes = [] }: Table): Promise<void> {
  const all: Columns = [[TENANT, 'text'], ...columns];
  const table = all.reduce(
    (so, [column, type, isOptional]) =>
      so.addColumn(column, type, (one) => (isOptional === undefined ? one.notNull() : one)),
    db.schema.createTable(name) as CreateTableBuilder<string, string>,
  );
  await table.addPrimaryKeyConstraint(`${name}_key`, [TENANT, ...key]).execute();
  for (const index of indexes)
    await db.schema
      .createIndex(`${name}_by_${index.join('_')}`)
      .on(name)
      .columns([TENANT, ...index])
      .execute();
}
