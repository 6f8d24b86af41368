import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type TransactionSettings,
} from 'kysely';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { migrate } from './migrations.ts';
import { type SkillStore, storeIn } from './skill-store.ts';
import { nodeSqlite } from './node-sqlite.ts';
import type { SkillTables } from './skill-tables.ts';

/** SQLite's code for "somebody else is writing". */
const BUSY = 5;
/** When a write that has to wait tries again, and until when it does, milliseconds. */
const TRY_AGAIN_MS = 5;
const GIVE_UP_MS = 30_000;

const IN_MEMORY = ':memory:';
/** Others of the machine have no business in it. */
const OWN_FOLDER = 0o700;

/** Opens the store in a file, whose folder is made if need be, or in memory (`:memory:`). What a write has kept outlives the process. */
export async function openSqlite(file: string, clock: Waiting): Promise<SkillStore> {
  const config = { database: () => Promise.resolve(fileOrMemory(file)) };
  const dialect = new SqliteDialect(config);
  const db = new Kysely<SkillTables>({
    dialect: {
      createAdapter: () => new WholeMigrations(),
      createIntrospector: (known) => dialect.createIntrospector(known),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createDriver: () => new Turns(config, clock),
    },
  });
  try {
    await db.transaction().execute((whole) => migrate(whole, { bytes: 'blob' }));
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return storeIn({
    db,
    name: file,
    isFailure: (error) => (error as { code?: unknown }).code === 'ERR_SQLITE_ERROR',
    transact: ({ writes }, run) =>
      db
        .transaction()
        .setAccessMode(writes ? 'read write' : 'read only')
        .execute(run),
  });
}

/** Lets migrations be done within a transaction, all of them or none, and by one at a time: Kysely leaves that off for SQLite. */
class WholeMigrations extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

type Waiting = Pick<Clock, 'monotonicMs' | 'setTimer'>;

/**
 * Takes the right to write as a transaction begins that will: what it has read by then could be outdated when it writes. It waits
 * for others without holding up the thread, in which their transactions may have to go on.
 */
class Turns extends SqliteDriver {
  readonly #clock: Waiting;

  constructor(config: SqliteDialectConfig, clock: Waiting) {
    super(config);
    this.#clock = clock;
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    if (settings?.accessMode === 'read only') {
      await run(connection, 'begin');
      return run(connection, 'pragma query_only = on');
    }
    const untilMs = this.#clock.monotonicMs() + GIVE_UP_MS;
    while (!(await this.#begins(connection, untilMs)))
      await new Promise<void>((resolve) => this.#clock.setTimer(TRY_AGAIN_MS, resolve));
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    await run(connection, 'pragma query_only = off');
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection);
    await run(connection, 'pragma query_only = off');
  }

  async #begins(connection: DatabaseConnection, untilMs: number): Promise<boolean> {
    try {
      await run(connection, 'begin immediate');
      return true;
    } catch (error) {
      const isBusy = (error as { errcode?: unknown }).errcode === BUSY;
      if (!isBusy || this.#clock.monotonicMs() >= untilMs) throw error;
      return false;
    }
  }
}

const run = async (connection: DatabaseConnection, text: string): Promise<void> =>
  void (await connection.executeQuery(CompiledQuery.raw(text)));

function fileOrMemory(file: string): SqliteDatabase {
  if (file !== IN_MEMORY) mkdirSync(dirname(file), { recursive: true, mode: OWN_FOLDER });
  return nodeSqlite(file, { isSynced: false });
}
