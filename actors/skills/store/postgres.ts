import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { migrate } from './migrations.ts';
import { type SkillStore, storeIn } from './skill-store.ts';
import type { SkillTables } from './skill-tables.ts';
import { TENANT } from './tenant-scope.ts';

/** The type of PostgreSQL's 64-bit integers, which its driver would give as text. */
const INT8 = 20;
/** What a session is of which tenant by. */
const SETTING = 'orrery.tenant';

/**
 * Opens the store in a PostgreSQL database, which many processes may share. Its row-level security is a second wall around each
 * tenant. Fails with INVALID_OPTIONS for a role that this does not hold for.
 */
export async function openPostgres(url: string): Promise<SkillStore> {
  const pool = new pg.Pool({
    connectionString: url,
    types: {
      getTypeParser: (type, format) => (type === INT8 ? Number : pg.types.getTypeParser(type, format)),
    },
  });
  // A connection that nobody uses was lost, as by a restart of the server: whoever comes next opens another.
  pool.on('error', () => undefined);
  const db = new Kysely<SkillTables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await requireConfinedRole(db);
    await migrate(db, { bytes: 'bytea', keepApart });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return storeIn({
    db,
    name: 'the PostgreSQL database',
    isFailure: (error) => error instanceof pg.DatabaseError || isOfNetwork(error),
    transact: ({ tenant, writes }, run) =>
      db
        .transaction()
        .setAccessMode(writes ? 'read write' : 'read only')
        // A reader sees one state. A writer sees what the one before it wrote, once it has its turn.
        .setIsolationLevel(writes ? 'read committed' : 'repeatable read')
        .execute(async (queries) => {
          await sql`select set_config(${SETTING}, ${tenant}, true)`.execute(queries);
          return run(queries);
        }),
  });
}

async function requireConfinedRole(db: Kysely<SkillTables>): Promise<void> {
  const { rows } = await sql<{ name: string; free: boolean }>`
    select rolname as name, rolsuper or rolbypassrls as free from pg_roles where rolname = current_user`.execute(
    db,
  );
  const [role] = rows;
  if (role?.free !== false)
    throw invalidOptions(
      'role',
      role?.name,
      'a role that is bound by row-level security: no superuser, no BYPASSRLS',
    );
}

/** The database shows and takes rows of the session's tenant alone, also from the owner of the table. */
async function keepApart(db: Kysely<unknown>, table: string): Promise<void> {
  const name = sql.table(table);
  const isOwn = sql`${sql.ref(TENANT)} = current_setting(${sql.lit(SETTING)}, true)`;
  await sql`alter table ${name} enable row level security`.execute(db);
  await sql`alter table ${name} force row level security`.execute(db);
  await sql`create policy ${sql.id(`${table}_of_tenant`)} on ${name} using (${isOwn}) with check (${isOwn})`.execute(
    db,
  );
}

/** Whether the server could not be reached, or went away. */
function isOfNetwork(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return (
    (typeof code === 'string' && /^E[A-Z]+$/.test(code)) ||
    String(message).startsWith('Connection terminated')
  );
}
