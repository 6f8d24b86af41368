import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** How long a process waits for another one that opens the same file for the first time, milliseconds. */
const OPENING_MS = 10_000;

/**
 * SQLite as Kysely wants it, by Node's own binding: written ahead, and where it `isSynced` every commit survives the loss of
 * power, as one of a system's journal does. Statements are prepared once.
 */
export function nodeSqlite(file: string, { isSynced }: { readonly isSynced: boolean }): SqliteDatabase {
  const database = new DatabaseSync(file, { timeout: OPENING_MS });
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`);
  // From here on who waits does not hold up the thread, in which what it waits for may have to go on.
  database.exec('PRAGMA busy_timeout = 0');
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = prepared.get(sql) ?? asKyselyReads(database.prepare(sql));
      prepared.set(sql, statement);
      return statement;
    },
  };
}

function asKyselyReads(statement: StatementSync): SqliteStatement {
  const values = (parameters: readonly unknown[]): SQLInputValue[] => [...parameters] as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}
