import type { DatabaseSync } from 'node:sqlite';
import type { StoredRecord } from '../protocol/store.ts';
import {
  type Column,
  mailChecksum,
  recordChecksum,
  type JournalMetadata,
  metadataChecksum,
  sumOf,
} from './checksums.ts';

/** `Orry`, in the header of the file: whose database it is. */
export const APPLICATION = 0x4f72_7279;
/** How the tables are to be read; it changes when they do. */
export const FORMAT = 3;
/** What is brought to today's format when it is opened. 2: without checksums and metadata. */
export const OLDER_FORMATS: readonly number[] = [2];

const METADATA_COLUMNS = 'life NOT NULL, before NOT NULL, commits INTEGER NOT NULL, content INTEGER NOT NULL';

/** A row's checksum is of everything else in it; the counter's is of the metadata. */
export const SCHEMA = `
  CREATE TABLE counter (next INTEGER NOT NULL, checkpoints INTEGER NOT NULL, ${METADATA_COLUMNS}, checksum INTEGER NOT NULL);
  INSERT INTO counter VALUES (1, 0, '', '', 0, 0, 0);
  CREATE TABLE mails (number INTEGER PRIMARY KEY, recipient NOT NULL, body NOT NULL, checksum INTEGER NOT NULL);
  CREATE TABLE records (kind NOT NULL, key NOT NULL, value NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${FORMAT};
`;

const FROM_FORMAT_2 = `
  ALTER TABLE counter ADD COLUMN life NOT NULL DEFAULT '';
  ALTER TABLE counter ADD COLUMN before NOT NULL DEFAULT '';
  ALTER TABLE counter ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE counter ADD COLUMN content INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE counter ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE mails ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE records ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
  PRAGMA user_version = ${FORMAT};
`;

/** Brings the tables of format 2 to today's, within a transaction of the caller's. */
export function bringFromFormat2(database: DatabaseSync): void {
  database.exec(FROM_FORMAT_2);
  const mail = database.prepare('UPDATE mails SET checksum = ? WHERE number = ?');
  for (const [number, recipient, body] of mailRowsOf(database))
    mail.run(mailChecksum(number, recipient, body), number);
  const record = database.prepare('UPDATE records SET checksum = ? WHERE kind = ? AND key = ?');
  for (const [kind, key, value] of recordRowsOf(database))
    record.run(recordChecksum(kind, key, value), kind, key);
}

/** Writes the metadata, within a transaction of the caller's. */
export function putMetadata(database: DatabaseSync, metadata: JournalMetadata): void {
  database
    .prepare('UPDATE counter SET life = ?, before = ?, commits = ?, next = ?, content = ?, checksum = ?')
    .run(
      metadata.life,
      metadata.before,
      metadata.commits,
      metadata.next,
      metadata.content,
      metadataChecksum(metadata),
    );
}

/** The metadata of a database of today's format; undefined if its checksum does not fit. */
export function readMetadata(database: DatabaseSync): JournalMetadata | undefined {
  const row = database.prepare('SELECT * FROM counter').get();
  if (row === undefined) return undefined;
  const metadata: JournalMetadata = {
    life: String(row['life']),
    before: String(row['before']),
    commits: Number(row['commits']),
    next: Number(row['next']),
    content: Number(row['content']),
  };
  return metadataChecksum(metadata) === row['checksum'] ? metadata : undefined;
}

/** The sum of all rows' checksums, or a sentence that names the first row whose checksum does not fit. */
export function contentOf(database: DatabaseSync): { readonly sum: number } | { readonly damaged: string } {
  let sum = 0;
  for (const [number, recipient, body, checksum] of mailRowsOf(database)) {
    if (mailChecksum(number, recipient, body) !== checksum)
      return { damaged: `envelope ${number} is not what was written` };
    sum = sumOf(sum, checksum);
  }
  for (const [kind, key, value, checksum] of recordRowsOf(database)) {
    if (recordChecksum(kind, key, value) !== checksum)
      return { damaged: `a record of kind ${JSON.stringify(String(kind))} is not what was written` };
    sum = sumOf(sum, checksum);
  }
  return { sum };
}

export type MailRow = readonly [number: number, recipient: Column, body: Column, checksum: number];
export type RecordRow = readonly [kind: Column, key: Column, value: Column, checksum: number];

/** What a row says; bytes that are no text are none. */
export const recordOf = ([kind, key, value]: RecordRow): StoredRecord => ({
  kind: String(kind),
  key: String(key),
  value: String(value),
});

const mailRowsOf = (database: DatabaseSync): Iterable<MailRow> => rowsOf(database, 'SELECT * FROM mails');
export const recordRowsOf = (database: DatabaseSync): Iterable<RecordRow> =>
  rowsOf(database, 'SELECT * FROM records');

/** Rows as lists of their columns, one after the other: a function of ours in SQL would hold all that it is given. */
function rowsOf<Row>(database: DatabaseSync, sql: string): Iterable<Row> {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement.iterate() as unknown as Iterable<Row>;
}
