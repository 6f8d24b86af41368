import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  rmSync,
  ftruncateSync,
  writeSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { invalidOptions, storeInvalid } from '../protocol/errors.ts';
import { mailChecksum, recordChecksum, sumOf } from './checksums.ts';
import { logFileOf, numberOf, sizeOf } from './examine-file.ts';
import { markOf } from './high-water-mark.ts';
import { copyNotes } from './backup.ts';
import { type LogScan, scanLog } from './log-scan.ts';
import { recordFault } from './record-faults.ts';
import { openSqliteFile } from './sqlite-file.ts';
import {
  FORMAT,
  type MailRow,
  putMetadata,
  recordOf,
  type RecordRow,
  readMetadata,
} from './sqlite-format.ts';
import { SqliteStoreOptions } from './sqlite-store-options.ts';

/**
 * What was got out of a damaged journal.
 *
 * - `mails`, `records` so many rows are in the new one.
 * - `lost`   what is not, a sentence each; none: all that the file holds is there.
 */
export interface Salvaged {
  readonly mails: number;
  readonly records: number;
  readonly lost: readonly string[];
}

/** Where the header of a database says how it is written, and that it is by a log (2) or without one (1). */
const WRITE_VERSION_AT = 18;
const WITHOUT_LOG = Buffer.from([1, 1]);

/** What can be read of one copy of a file. */
interface Found {
  readonly mails: readonly MailRow[];
  readonly records: readonly RecordRow[];
  readonly next: number;
  readonly commits: number;
  readonly isWhole: boolean;
  readonly lost: readonly string[];
}

/**
 * Copies every row that is whole into a new journal, under its number. Works on copies of the file, with the whole commits
 * of its log and without them, and takes the better one. `damage` is what is known to be wrong with it.
 */
export function salvage(
  file: string,
  target: string,
  { damage, life }: { damage: readonly string[]; life: string },
): Salvaged {
  if (existsSync(target)) throw invalidOptions('target', target, 'the path of a file that is not there yet');
  const copy = `${target}-salvaging`;
  try {
    const found = bestOf([scanLog(logFileOf(file)), undefined].flatMap((log) => copied(file, copy, log)));
    if (found === undefined) {
      const reason = `nothing can be read of it, nor of its log: ${damage.join('; ')}`;
      throw storeInvalid(file, `${reason}. Restore a backup`);
    }
    fill(target, found, life);
    copyNotes(file, target);
    const { mails, records, lost } = found;
    return { mails: mails.length, records: records.length, lost: [...damage, ...lost] };
  } finally {
    rmSync(copy, { force: true });
  }
}

/** What can be read of the file with these pages of its log laid over it; nothing when it is no database then. */
function copied(file: string, copy: string, log: LogScan | undefined): Found[] {
  if (log !== undefined && !(log.kind === 'read' && log.pages.length > 0)) return [];
  rmSync(copy, { force: true });
  if (sizeOf(file) > 0) copyFileSync(file, copy);
  const descriptor = openSync(copy, existsSync(copy) ? 'r+' : 'w+');
  try {
    if (log?.kind === 'read') layOver(descriptor, logFileOf(file), log);
    writeSync(descriptor, WITHOUT_LOG, 0, WITHOUT_LOG.length, WRITE_VERSION_AT);
  } finally {
    closeSync(descriptor);
  }
  try {
    const database = new DatabaseSync(copy, { readOnly: true });
    try {
      return [rowsIn(database)];
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

function layOver(descriptor: number, logFile: string, log: LogScan & { readonly kind: 'read' }): void {
  const { pageBytes, pages, databasePages } = log;
  const bytes = Buffer.alloc(pageBytes);
  const from = openSync(logFile, 'r');
  try {
    for (const { page, at } of pages) {
      readSync(from, bytes, 0, pageBytes, at);
      writeSync(descriptor, bytes, 0, pageBytes, (page - 1) * pageBytes);
    }
    ftruncateSync(descriptor, databasePages * pageBytes);
  } finally {
    closeSync(from);
  }
}

/** One that is whole before one that is not, then the later one, then the one with more. */
function bestOf(found: readonly Found[]): Found | undefined {
  const rank = ({ isWhole, commits, mails, records }: Found): readonly number[] => [
    isWhole ? 1 : 0,
    isWhole ? commits : 0,
    mails.length + records.length,
  ];
  return found.toSorted((one, other) => inOrder(rank(other), rank(one)))[0];
}

function inOrder(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] as number) - (other[at] as number);
}

function rowsIn(database: DatabaseSync): Found {
  const hasChecksums = numberOf(database, 'PRAGMA user_version') === FORMAT;
  const lost: string[] = [];
  const mails = rowsOf<MailRow>(database, 'mails', ['number']);
  const records = rowsOf<RecordRow>(database, 'records', ['kind', 'key']);
  const wholeMails = mails.rows.filter(
    ([number, recipient, body, checksum]) =>
      !hasChecksums || mailChecksum(number, recipient, body) === checksum,
  );
  const wholeRecords = records.rows.filter(
    ([kind, key, value, checksum]) => !hasChecksums || recordChecksum(kind, key, value) === checksum,
  );
  const readable = wholeRecords.filter((row) => recordFault(recordOf(row)) === undefined);
  const unreadable = wholeRecords.length - readable.length;
  if (unreadable > 0) lost.push(`records that say nothing of what they should: ${unreadable}`);
  if (mails.isTorn) lost.push('some envelopes cannot be read');
  if (records.isTorn) lost.push('some records cannot be read');
  const changed = mails.rows.length - wholeMails.length;
  if (changed > 0) lost.push(`envelopes that are not what was written: ${changed}`);
  const changedRecords = records.rows.length - wholeRecords.length;
  if (changedRecords > 0) lost.push(`records that are not what was written: ${changedRecords}`);
  const metadata = hasChecksums ? tried(() => readMetadata(database)) : undefined;
  const sum = sumOfRows(wholeMails, wholeRecords);
  const last = wholeMails.reduce((highest, [number]) => Math.max(highest, number), 0);
  const counted = tried(() => numberOf(database, 'SELECT next FROM counter')) ?? 1;
  return {
    mails: wholeMails,
    records: readable,
    next: Math.max(last + 1, metadata?.next ?? counted),
    commits: metadata?.commits ?? 0,
    isWhole: hasChecksums ? metadata?.content === sum : lost.length === 0,
    lost,
  };
}

const sumOfRows = (mails: readonly MailRow[], records: readonly RecordRow[]): number =>
  [...mails, ...records].reduce((sum, row) => sumOf(sum, row[3] ?? 0), 0);

/** The rows before the first place that cannot be read, and those behind the last one. */
function rowsOf<Row extends readonly unknown[]>(
  database: DatabaseSync,
  table: string,
  key: readonly string[],
): { readonly rows: Row[]; readonly isTorn: boolean } {
  const read = (direction: string): { rows: Row[]; isTorn: boolean } => {
    const rows: Row[] = [];
    try {
      const statement = database.prepare(
        `SELECT * FROM ${table} ORDER BY ${key.map((column) => `${column} ${direction}`).join(', ')}`,
      );
      statement.setReturnArrays(true);
      for (const row of statement.iterate()) rows.push(row as unknown as Row);
      return { rows, isTorn: false };
    } catch {
      return { rows, isTorn: true };
    }
  };
  const forwards = read('ASC');
  if (!forwards.isTorn) return forwards;
  const nameOf = (row: Row): string => JSON.stringify(row.slice(0, key.length));
  const named = new Map([...read('DESC').rows.reverse(), ...forwards.rows].map((row) => [nameOf(row), row]));
  return { rows: [...named.values()], isTorn: true };
}

function tried<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A journal of its own, with a mark of its own. */
function fill(target: string, { mails, records, next }: Found, life: string): void {
  const { database, metadata, mark } = openSqliteFile(
    target,
    SqliteStoreOptions.parse({ path: target }),
    life,
  );
  try {
    database.exec('BEGIN IMMEDIATE');
    const mail = database.prepare('INSERT INTO mails VALUES (?, ?, ?, ?)');
    for (const [number, recipient, body] of mails)
      mail.run(number, recipient, body, mailChecksum(number, recipient, body));
    const record = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?)');
    for (const [kind, key, value] of records) record.run(kind, key, value, recordChecksum(kind, key, value));
    const content = [
      ...mails.map(([number, recipient, body]) => mailChecksum(number, recipient, body)),
      ...records.map(([kind, key, value]) => recordChecksum(kind, key, value)),
    ].reduce(sumOf, 0);
    const filled = { ...metadata, commits: metadata.commits + 1, next, content };
    putMetadata(database, filled);
    database.exec('COMMIT');
    mark.write(markOf(filled));
    mark.sync();
  } finally {
    mark.close();
    database.close();
  }
}
