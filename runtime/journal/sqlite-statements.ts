import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoredMail } from '../protocol/store.ts';
import { mailChecksum, recordChecksum, type JournalMetadata, metadataChecksum } from './checksums.ts';

/** A column that holds a text: one that UTF-8 cannot say, because it has halves of characters, is kept as UTF-16. */
type TextColumn = string | Uint8Array;

const toColumn = (text: string): TextColumn => (text.isWellFormed() ? text : Buffer.from(text, 'utf16le'));

export const fromColumn = (column: unknown): string =>
  typeof column === 'string' ? column : Buffer.from(column as Uint8Array).toString('utf16le');

/** How many mails one statement inserts: a call costs half of what a row does. */
const AT_ONCE = 8;

/** Number, recipient, body. */
export type MailRow = readonly [number, unknown, unknown];

/** The prepared statements of a store. */
export class SqliteStatements {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #insertMail: StatementSync;
  readonly #insertMails: StatementSync;
  readonly #checksumOfMails: StatementSync;
  readonly #deleteMails: StatementSync;
  readonly #checksumOfRecord: StatementSync;
  readonly #putRecord: StatementSync;
  readonly #deleteRecord: StatementSync;
  readonly #putMetadata: StatementSync;
  readonly #mails: StatementSync;
  readonly #mail: StatementSync;
  readonly #firstRecords: StatementSync;
  readonly #records: StatementSync;

  constructor(database: DatabaseSync) {
    const prepare = (sql: string): StatementSync => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#begin = prepare('BEGIN IMMEDIATE');
    this.#commit = prepare('COMMIT');
    this.#insertMail = prepare('INSERT INTO mails VALUES (?, ?, ?, ?)');
    this.#insertMails = prepare(`INSERT INTO mails VALUES ${Array(AT_ONCE).fill('(?, ?, ?, ?)').join(', ')}`);
    this.#checksumOfMails = prepare(
      'SELECT ifnull(sum(checksum), 0) FROM mails WHERE number BETWEEN ? AND ?',
    );
    this.#deleteMails = prepare('DELETE FROM mails WHERE number BETWEEN ? AND ?');
    this.#checksumOfRecord = prepare('SELECT checksum FROM records WHERE kind = ? AND key = ?');
    this.#putRecord = prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)');
    this.#deleteRecord = prepare('DELETE FROM records WHERE kind = ? AND key = ?');
    this.#putMetadata = prepare('UPDATE counter SET next = ?, commits = ?, content = ?, checksum = ?');
    this.#mails = prepare(
      'SELECT number, recipient, body FROM mails WHERE number > ? ORDER BY number LIMIT ?',
    );
    this.#mail = prepare('SELECT number, recipient, body FROM mails WHERE number = ?');
    this.#firstRecords = prepare('SELECT key, value FROM records WHERE kind = ? ORDER BY key LIMIT ?');
    this.#records = prepare('SELECT key, value FROM records WHERE kind = ? AND key > ? ORDER BY key LIMIT ?');
  }

  begin(): void {
    this.#begin.run();
  }

  commit(): void {
    this.#commit.run();
  }

  /** The first has this number, the others those that follow. Returns their checksums, added up. */
  insertMails(first: number, mails: readonly StoredMail[]): number {
    let sum = 0;
    const columnsOf = (at: number): (number | TextColumn)[] => {
      const { recipient, body } = mails[at] as StoredMail;
      const [whom, what] = [toColumn(recipient), toColumn(body)];
      const checksum = mailChecksum(first + at, whom, what);
      sum += checksum;
      return [first + at, whom, what, checksum];
    };
    let at = 0;
    for (; at + AT_ONCE <= mails.length; at += AT_ONCE) {
      const columns: (number | TextColumn)[] = [];
      for (let next = at; next < at + AT_ONCE; next++) columns.push(...columnsOf(next));
      this.#insertMails.run(...columns);
    }
    for (; at < mails.length; at++) this.#insertMail.run(...columnsOf(at));
    return sum;
  }

  /** Returns the checksums of those that were there, added up. */
  deleteMails(first: number, last: number): number {
    const [sum] = this.#checksumOfMails.get(first, last) as unknown as [number];
    this.#deleteMails.run(first, last);
    return sum;
  }

  /** Returns by how much the checksums of all have grown. */
  putRecord(kind: string, key: string, value: string): number {
    const [ofKind, named, said] = [toColumn(kind), toColumn(key), toColumn(value)];
    const before = this.#checksumOf(ofKind, named);
    const checksum = recordChecksum(ofKind, named, said);
    this.#putRecord.run(ofKind, named, said, checksum);
    return checksum - before;
  }

  /** Returns by how much the checksums of all have grown: it is not above 0. */
  deleteRecord(kind: string, key: string): number {
    const [ofKind, named] = [toColumn(kind), toColumn(key)];
    const before = this.#checksumOf(ofKind, named);
    this.#deleteRecord.run(ofKind, named);
    return -before;
  }

  #checksumOf(kind: TextColumn, key: TextColumn): number {
    return (this.#checksumOfRecord.get(kind, key) as unknown as [number] | undefined)?.[0] ?? 0;
  }

  /** Updates the metadata within the same life. */
  putMetadata(metadata: JournalMetadata): void {
    const { next, commits, content } = metadata;
    this.#putMetadata.run(next, commits, content, metadataChecksum(metadata));
  }

  mails(after: number, limit: number): readonly MailRow[] {
    return this.#mails.all(after, limit) as unknown as MailRow[];
  }

  mail(number: number): MailRow | undefined {
    return this.#mail.get(number) as MailRow | undefined;
  }

  /** Rows of key and value. */
  records(kind: string, after: string | undefined, limit: number): readonly (readonly [unknown, unknown])[] {
    const rows =
      after === undefined
        ? this.#firstRecords.all(toColumn(kind), limit)
        : this.#records.all(toColumn(kind), toColumn(after), limit);
    return rows as unknown as [unknown, unknown][];
  }
}
