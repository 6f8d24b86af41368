import type { ColumnDataType, CreateTableBuilder, Kysely } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { SkillTables } from './skill-tables.ts';
import { TENANT } from './tenant-scope.ts';

/** What differs between databases. */
export interface Dialect {
  readonly bytes: ColumnDataType;
  /** Has the database itself keep tenants apart in a table. */
  readonly keepApart?: (db: Kysely<unknown>, table: string) => Promise<void>;
}

type Columns = readonly (readonly [name: string, type: ColumnDataType, isOptional?: 'optional'])[];

/** A table of many tenants: its key begins with whose a row is, and so does each index. */
interface Table {
  readonly name: keyof SkillTables;
  readonly columns: Columns;
  /** The columns that tell the rows of one tenant apart. */
  readonly key: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
}

/** Brings the tables up to what this version needs. When it fails, nothing of the migration that failed is there. */
export async function migrate(db: Kysely<SkillTables>, dialect: Dialect): Promise<void> {
  const provider = {
    getMigrations: async () => ({ '0001-memories': makes(memoriesIn(dialect), dialect) }),
  };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
}

const memoriesIn = ({ bytes }: Dialect): readonly Table[] => [
  { name: 'tenants', columns: [['revision', 'bigint']], key: [] },
  {
    name: 'memories',
    columns: [
      ['id', 'text'],
      ['layer', 'integer'],
      ['scope', 'text'],
      ['content', 'text'],
      ['hash', 'text'],
      ['subject', 'text', 'optional'],
      ['tags', 'text'],
      ['importance', 'double precision'],
      ['metadata', 'text', 'optional'],
      ['taint', 'text', 'optional'],
      ['author', 'text'],
      ['valid_from', 'bigint', 'optional'],
      ['valid_until', 'bigint', 'optional'],
      ['created_at', 'bigint'],
      ['updated_at', 'bigint'],
      ['version', 'integer'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision'], ['layer', 'scope', 'hash'], ['subject']],
  },
  {
    name: 'memory_versions',
    columns: [
      ['id', 'text'],
      ['version', 'integer'],
      ['content', 'text'],
      ['author', 'text'],
      ['written_at', 'bigint'],
    ],
    key: ['id', 'version'],
  },
  {
    name: 'memory_vectors',
    columns: [
      ['id', 'text'],
      ['model', 'text'],
      ['vector', bytes],
    ],
    key: ['id'],
  },
  {
    name: 'removed_memories',
    columns: [
      ['id', 'text'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision']],
  },
];

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
