import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isOrreryError, reasonOf, storeFailed, storeInUse, storeInvalid } from '../protocol/errors.ts';
import type { JournalMetadata } from './checksums.ts';
import { type Examination, examineFile, numberOf } from './examine-file.ts';
import { HighWaterMark, markOf } from './high-water-mark.ts';
import { lockHolder } from './lock-holder.ts';
import { wayOut } from './record-schema.ts';
import { sqliteFault } from './sqlite-fault.ts';
import { bringFromFormat2, contentOf, putMetadata, SCHEMA, readMetadata } from './sqlite-format.ts';
import type { SqliteStoreOptions } from './sqlite-store-options.ts';

const CACHE_KIB = 8_192;
/** Twice SQLite's own: a commit of a thousand mails takes half the time, one of eight no longer. */
const PAGE_BYTES = 8_192;
/** What SQLite says for it. */
const INCREMENTAL = 2;

/** An open file, how it stands, and its mark. */
export interface OpenFile {
  readonly database: DatabaseSync;
  readonly metadata: JournalMetadata;
  readonly mark: HighWaterMark;
}

/**
 * Opens the file for this process alone, and makes its tables if it is new. The lock is SQLite's own, held until the
 * database is closed or the process has ended, however it did. A file that is not whole is left as it is, with its log.
 *
 * Nothing may open the file by other means while it is open here: closing that again would free the lock (POSIX).
 *
 * Fails with STORE_IN_USE, STORE_INVALID or STORE_FAILED.
 */
export function openSqliteFile(file: string, options: SqliteStoreOptions, life: string): OpenFile {
  requireWritable(file);
  let database: DatabaseSync | undefined;
  let mark: HighWaterMark | undefined;
  try {
    const found = examineFile(file, options.lockWaitMs);
    requireWhole(file, found);
    database = new DatabaseSync(file, { timeout: options.lockWaitMs });
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; COMMIT'); // The lock, which it keeps.
    requireUnchanged(file, database, found);
    mark =
      found.metadata === undefined ? HighWaterMark.create(file, firstMark(life)) : HighWaterMark.open(file);
    const metadata = begin(database, mark, found, { options, life });
    return { database, metadata, mark };
  } catch (error) {
    mark?.close();
    database?.close();
    if (isOrreryError(error)) throw error;
    const { errcode } = error as { errcode?: number };
    throw errcode === undefined
      ? storeFailed(file, 'open', reasonOf(error), error)
      : sqliteFault(file, 'open', error);
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

function requireWhole(file: string, { damage: [first, ...more] }: Examination): void {
  if (first === undefined) return;
  const others = more.length === 0 ? '' : `; ${more.join('; ')}`;
  throw storeInvalid(file, `${first}${others}. ${wayOut(file)}`, { damage: [first, ...more] });
}

/** Nobody else had it between being looked at and being locked. */
function requireUnchanged(file: string, database: DatabaseSync, { format, metadata }: Examination): void {
  const isSame =
    numberOf(database, 'PRAGMA user_version') === (format ?? 0) &&
    (metadata === undefined || readMetadata(database)?.commits === metadata.commits);
  if (!isSame) throw storeInUse(file, lockHolder(file));
}

/** The mark of a new journal. */
const firstMark = (life: string) => ({ life, commits: 0, checksum: 0 });

/**
 * Begins a life: what the mark says is synced before the file says that there is a new life, and again afterwards. So
 * whatever a crash leaves, the mark is of this life or of the one before.
 */
function begin(
  database: DatabaseSync,
  mark: HighWaterMark,
  { format, metadata: last }: Examination,
  { options, life }: { options: SqliteStoreOptions; life: string },
): JournalMetadata {
  if (last !== undefined && mark.syncedLife !== last.life) {
    mark.write(markOf(last));
    mark.sync();
  }
  if (format === undefined) prepareNew(database);
  tune(database, options);
  database.exec('BEGIN IMMEDIATE');
  if (format === undefined) database.exec(SCHEMA);
  else if (last === undefined) bringFromFormat2(database);
  const metadata = nextLife(database, last, life);
  putMetadata(database, metadata);
  database.exec('COMMIT');
  mark.write(markOf(metadata));
  mark.sync();
  return metadata;
}

function nextLife(database: DatabaseSync, last: JournalMetadata | undefined, life: string): JournalMetadata {
  if (last !== undefined) return { ...last, life, before: last.life, commits: last.commits + 1 };
  const content = contentOf(database);
  if ('damaged' in content) throw new Error(content.damaged); // It has just been made.
  const next = numberOf(database, 'SELECT next FROM counter');
  return { life, before: '', commits: 1, next, content: content.sum };
}

/** Until its tables are there the file counts as new. */
function prepareNew(database: DatabaseSync): void {
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  if (numberOf(database, 'PRAGMA auto_vacuum') !== INCREMENTAL) database.exec('VACUUM'); // It had pages already.
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
