import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { z } from 'zod';
import { storeFailed } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock } from '../protocol/seams.ts';
import type { NumberedMail, PageOf, Store, StoreBatch, StoredRecord } from '../protocol/store.ts';
import { systemClock } from '../protocol/system-seams.ts';
import { sqliteFault } from './sqlite-fault.ts';
import { openSqliteFile } from './sqlite-file.ts';
import { fromColumn, type MailRow, SqliteStatements } from './sqlite-statements.ts';
import { SqliteStoreOptions } from './sqlite-store-options.ts';
import { SqliteUpkeep } from './sqlite-upkeep.ts';
import { charactersOf } from './unit-format.ts';

export interface SqliteStoreDeps {
  readonly clock: Clock;
}

/**
 * A store in a file, for this process alone. SQLite writes synchronously, so it belongs in a thread of its own, and
 * nothing else in the process may open the file meanwhile: closing it again would free the lock.
 */
export class SqliteStore implements Store {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #upkeep: SqliteUpkeep;
  readonly #statements: SqliteStatements;
  #next: number;

  private constructor(file: string, database: DatabaseSync, upkeep: SqliteUpkeep) {
    this.#file = file;
    this.#database = database;
    this.#upkeep = upkeep;
    this.#statements = new SqliteStatements(database);
    this.#next = this.#statements.next();
  }

  /**
   * Opens the file, or makes it. Throws INVALID_OPTIONS; STORE_IN_USE; STORE_INVALID when the file is none of ours, has
   * another format or is damaged; STORE_FAILED when it cannot be opened for writing.
   */
  static open(
    options: z.input<typeof SqliteStoreOptions>,
    { clock }: SqliteStoreDeps = { clock: systemClock },
  ): SqliteStore {
    const parsed = parseOptions(SqliteStoreOptions, options, 'store');
    const file = resolve(parsed.path);
    const database = openSqliteFile(file, parsed);
    try {
      const upkeep = new SqliteUpkeep({ database, file, options: parsed, clock });
      return new SqliteStore(file, database, upkeep);
    } catch (error) {
      database.close();
      throw sqliteFault(file, 'open', error);
    }
  }

  async write(batches: readonly StoreBatch[]): Promise<readonly number[]> {
    return this.#do('write', () => {
      this.#upkeep.beforeWrite();
      return this.#write(batches);
    });
  }

  async mails({ after = 0, limit }: PageOf<number>): Promise<readonly NumberedMail[]> {
    return this.#do('read', () => this.#statements.mails(after, limit)).map(mailOf);
  }

  async mailsAt(numbers: readonly number[]): Promise<readonly NumberedMail[]> {
    const rows = this.#do('read', () => numbers.map((number) => this.#statements.mail(number)));
    return rows.filter((row) => row !== undefined).map(mailOf);
  }

  async records(kind: string, { after, limit }: PageOf<string>): Promise<readonly StoredRecord[]> {
    const rows = this.#do('read', () => this.#statements.records(kind, after, limit));
    return rows.map(([key, value]) => ({ kind, key: fromColumn(key), value: fromColumn(value) }));
  }

  async close(): Promise<void> {
    this.#upkeep.close();
    if (this.#database.isOpen) this.#do('close', () => this.#database.close());
  }

  #do<Result>(operation: string, run: () => Result): Result {
    if (!this.#database.isOpen) throw storeFailed(this.#file, operation, 'it is closed');
    try {
      return run();
    } catch (error) {
      throw sqliteFault(this.#file, operation, error);
    }
  }

  #write(batches: readonly StoreBatch[]): readonly number[] {
    const firstMails: number[] = [];
    let next = this.#next;
    for (const { mails } of batches) {
      firstMails.push(next);
      next += mails.length;
    }
    const amount = { characters: 0, pages: 0 };
    this.#statements.begin();
    try {
      for (let at = 0; at < batches.length; at++) {
        this.#apply(batches[at] as StoreBatch, firstMails[at] as number, amount);
      }
      if (next > this.#next) this.#statements.setNext(next);
      this.#statements.commit();
    } catch (error) {
      // Of some errors SQLite has taken everything back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#next = next;
    this.#upkeep.afterWrite(amount.characters, amount.pages);
    return firstMails;
  }

  #apply(batch: StoreBatch, firstMail: number, amount: { characters: number; pages: number }): void {
    const { mails, settled, records } = batch;
    this.#statements.insertMails(firstMail, mails);
    for (const [first, last] of runsOf(settled)) {
      this.#statements.deleteMails(first, last);
      amount.pages += 1 + ((last - first) >> 3);
    }
    for (const { kind, key, value } of records) {
      if (value === undefined) this.#statements.deleteRecord(kind, key);
      else this.#statements.putRecord(kind, key, value);
    }
    amount.pages += records.length;
    amount.characters += charactersOf(batch);
  }
}

const mailOf = ([number, recipient, body]: MailRow): NumberedMail => ({
  number,
  recipient: fromColumn(recipient),
  body: fromColumn(body),
});

/** Runs of numbers that follow each other, first and last: mails are settled in about the order in which they came. */
function runsOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const run = runs.at(-1);
    if (run !== undefined && number <= run[1] + 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}
