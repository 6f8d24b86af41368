import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isOrreryError, reasonOf, storeFailed, storeInvalid } from '../protocol/errors.ts';
import { sqliteFault } from './sqlite-fault.ts';
import type { SqliteStoreOptions } from './sqlite-store-options.ts';

/** `Orry`, in the header of the file: whose database it is. */
const APPLICATION = 0x4f72_7279;
/** How the tables are to be read; it changes when they do. */
const FORMAT = 2;
const CACHE_KIB = 8_192;
/** Twice SQLite's own: a commit of a thousand mails takes half the time, one of eight no longer. */
const PAGE_BYTES = 8_192;
/** What SQLite says for it. */
const INCREMENTAL = 2;

const SCHEMA = `
  CREATE TABLE counter (next INTEGER NOT NULL, checkpoints INTEGER NOT NULL);
  INSERT INTO counter VALUES (1, 0);
  CREATE TABLE mails (number INTEGER PRIMARY KEY, recipient NOT NULL, body NOT NULL);
  CREATE TABLE records (kind NOT NULL, key NOT NULL, value NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${FORMAT};
`;

/**
 * Opens the file for this process alone, and makes its tables if it is new. The lock is SQLite's own, held until the
 * database is closed or the process has ended, however it did.
 *
 * Nothing may open the file by other means while it is open here: closing that again would free the lock (POSIX).
 *
 * Fails with STORE_IN_USE, STORE_INVALID or STORE_FAILED.
 */
export function openSqliteFile(file: string, options: SqliteStoreOptions): DatabaseSync {
  requireWritable(file);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: options.lockWaitMs });
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    const isFirst = isNew(file, database);
    requireWholePages(file, database);
    if (isFirst) make(database);
    tune(database, options);
    requireSound(file, database);
    return database;
  } catch (error) {
    database?.close();
    throw isOrreryError(error) ? error : sqliteFault(file, 'open', error);
  }
}

/** SQLite says of most of this that it is unable to open the file, or opens it for reading. */
function requireWritable(file: string): void {
  const folder = dirname(file);
  const fail = (reason: string, cause?: unknown) => storeFailed(file, 'open', reason, cause);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw fail(`there is no folder ${folder}`);
  }
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw fail('it is a folder');
  for (const path of stat === undefined ? [folder] : [folder, file]) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw fail(
        `${path === file ? 'it' : `the folder ${path}`} may not be written (${reasonOf(error)})`,
        error,
      );
    }
  }
}

function isNew(file: string, database: DatabaseSync): boolean {
  const application = numberOf(database, 'PRAGMA application_id');
  const format = numberOf(database, 'PRAGMA user_version');
  if (application === 0 && format === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0)
    return true;
  if (application !== APPLICATION) {
    throw storeInvalid(file, `it belongs to another application (application_id ${application})`, {
      application,
    });
  }
  if (format !== FORMAT) {
    const age = format > FORMAT ? 'newer' : 'older';
    const reason = `it has the ${age} format ${format}, this version reads format ${FORMAT}`;
    throw storeInvalid(file, reason, { format, expected: FORMAT });
  }
  return false;
}

/** Until the last step is done the file counts as new. */
function make(database: DatabaseSync): void {
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  if (numberOf(database, 'PRAGMA auto_vacuum') !== INCREMENTAL) database.exec('VACUUM'); // It had pages already.
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
}

/** Checkpoints are made by hand (`SqliteUpkeep`). */
function tune(database: DatabaseSync, { walBytes, maxBytes }: SqliteStoreOptions): void {
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA fullfsync = ON'); // Where a plain sync stops at the drive's cache (macOS).
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  database.exec('PRAGMA wal_autocheckpoint = 0');
  database.exec(`PRAGMA journal_size_limit = ${walBytes}`);
  if (maxBytes === undefined) return;
  const pageBytes = numberOf(database, 'PRAGMA page_size');
  database.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
}

/**
 * SQLite takes what is missing of the last page for zeros, and a single byte for nothing. While there is a log it may be
 * right: the page is in there.
 */
function requireWholePages(file: string, database: DatabaseSync): void {
  if (sizeOf(`${file}-wal`) > 0) return;
  const bytes = sizeOf(file);
  const pageBytes = numberOf(database, 'PRAGMA page_size');
  if (bytes % pageBytes === 0) return;
  throw storeInvalid(file, `it is damaged (it has ${bytes} bytes, which are no whole pages of ${pageBytes})`);
}

/** A copy that was torn off, or patched up, must be noticed before anything is built on it. */
function requireSound(file: string, database: DatabaseSync): void {
  const [found] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {});
  if (found !== 'ok') throw storeInvalid(file, `it is damaged (${String(found).split('\n').at(-1)})`);
  const tables = numberOf(
    database,
    "SELECT count(*) FROM sqlite_schema WHERE name IN ('counter', 'mails', 'records')",
  );
  if (tables !== 3) throw storeInvalid(file, 'it is damaged (tables are missing)');
  const counters = numberOf(
    database,
    'SELECT count(*) FROM counter WHERE next > (SELECT ifnull(max(number), 0) FROM mails)',
  );
  if (counters !== 1) throw storeInvalid(file, 'it is damaged (it would give numbers twice)');
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The one number that a statement gives. */
export const numberOf = (database: DatabaseSync, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0]);
