import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A column that holds a text: one that UTF-8 cannot say, because it has halves of characters, is kept as UTF-16. */
type TextColumn = string | Uint8Array;

const toColumn = (text: string): TextColumn => (text.isWellFormed() ? text : Buffer.from(text, 'utf16le'));

export const fromColumn = (column: unknown): string =>
  typeof column === 'string' ? column : Buffer.from(column as Uint8Array).toString('utf16le');

/** Number, recipient, body. */
export type MailRow = readonly [number, unknown, unknown];

/** What a store does to its tables, prepared. */
export class SqliteStatements {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #insertMail: StatementSync;
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

  insertMail(number: number, recipient: string, body: string): void {
    this.#insertMail.run(number, toColumn(recipient), toColumn(body));
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
