import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoredMail } from '../protocol/store.ts';

/** A column that holds a text: one that UTF-8 cannot say, because it has halves of characters, is kept as UTF-16. */
type TextColumn = string | Uint8Array;

const toColumn = (text: string): TextColumn => (text.isWellFormed() ? text : Buffer.from(text, 'utf16le'));

export const fromColumn = (column: unknown): string =>
  typeof column === 'string' ? column : Buffer.from(column as Uint8Array).toString('utf16le');

/** So many mails are inserted by one statement where there are so many: a call costs half of what a row does. */
const AT_ONCE = 8;

/** Number, recipient, body. */
export type MailRow = readonly [number, unknown, unknown];

/** What a store does to its tables, prepared. */
export class SqliteStatements {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #insertMail: StatementSync;
  readonly #insertMails: StatementSync;
  readonly #deleteMails: StatementSync;
  readonly #putRecord: StatementSync;
  readonly #deleteRecord: StatementSync;
  readonly #setNext: StatementSync;
  readonly #mails: StatementSync;
  readonly #mail: StatementSync;
  readonly #firstRecords: StatementSync;
  readonly #records: StatementSync;
  readonly #next: StatementSync;

  constructor(database: DatabaseSync) {
    const prepare = (sql: string): StatementSync => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#begin = prepare('BEGIN IMMEDIATE');
    this.#commit = prepare('COMMIT');
    this.#insertMail = prepare('INSERT INTO mails VALUES (?, ?, ?)');
    this.#insertMails = prepare(`INSERT INTO mails VALUES ${Array(AT_ONCE).fill('(?, ?, ?)').join(', ')}`);
    this.#deleteMails = prepare('DELETE FROM mails WHERE number BETWEEN ? AND ?');
    this.#putRecord = prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)');
    this.#deleteRecord = prepare('DELETE FROM records WHERE kind = ? AND key = ?');
    this.#setNext = prepare('UPDATE counter SET next = ?');
    this.#next = prepare('SELECT next FROM counter');
    this.#mails = prepare('SELECT * FROM mails WHERE number > ? ORDER BY number LIMIT ?');
    this.#mail = prepare('SELECT * FROM mails WHERE number = ?');
    this.#firstRecords = prepare('SELECT key, value FROM records WHERE kind = ? ORDER BY key LIMIT ?');
    this.#records = prepare('SELECT key, value FROM records WHERE kind = ? AND key > ? ORDER BY key LIMIT ?');
  }

  begin(): void {
    this.#begin.run();
  }

  commit(): void {
    this.#commit.run();
  }

  /** The first has this number, the others those that follow. */
  insertMails(first: number, mails: readonly StoredMail[]): void {
    let at = 0;
    for (; at + AT_ONCE <= mails.length; at += AT_ONCE) {
      const columns: (number | TextColumn)[] = [];
      for (let next = at; next < at + AT_ONCE; next++) {
        const { recipient, body } = mails[next] as StoredMail;
        columns.push(first + next, toColumn(recipient), toColumn(body));
      }
      this.#insertMails.run(...columns);
    }
    for (; at < mails.length; at++) {
      const { recipient, body } = mails[at] as StoredMail;
      this.#insertMail.run(first + at, toColumn(recipient), toColumn(body));
    }
  }

  deleteMails(first: number, last: number): void {
    this.#deleteMails.run(first, last);
  }

  putRecord(kind: string, key: string, value: string): void {
    this.#putRecord.run(toColumn(kind), toColumn(key), toColumn(value));
  }

  deleteRecord(kind: string, key: string): void {
    this.#deleteRecord.run(toColumn(kind), toColumn(key));
  }

  setNext(next: number): void {
    this.#setNext.run(next);
  }

  /** The number of the next mail. */
  next(): number {
    return Number((this.#next.get() as unknown as [number])[0]);
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
