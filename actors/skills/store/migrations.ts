import { type ColumnDataType, type Kysely, type Migration, Migrator } from 'kysely';
import { storeInvalid } from '../../../runtime/public.ts';

/** The types of columns, by what they hold. */
export interface ColumnTypes {
  readonly bytes: ColumnDataType;
  readonly time: ColumnDataType;
}

/** Brings the tables of a database up to what this version needs. Fails with STORE_INVALID, and changes nothing then. */
export async function migrate(db: Kysely<never>, types: ColumnTypes): Promise<void> {
  const provider = { getMigrations: async () => ({ '0001-memories': memories(types) }) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error;
}

const memories = ({ bytes, time }: ColumnTypes): Migration => ({
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('tenants')
      .addColumn('tenant', 'text', (column) => column.notNull().primaryKey())
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('memories')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('layer', 'integer', (column) => column.notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('subject', 'text')
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('importance', 'double precision', (column) => column.notNull())
      .addColumn('metadata', 'text')
      .addColumn('taint', 'text')
      .addColumn('author', 'text', (column) => column.notNull())
      .addColumn('valid_from', time)
      .addColumn('valid_until', time)
      .addColumn('created_at', time, (column) => column.notNull())
      .addColumn('updated_at', time, (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('memories_pkey', ['tenant', 'id'] as never[])
      .execute();
    void bytes;
  },
});
