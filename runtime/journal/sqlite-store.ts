import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { z } from 'zod';
import { isOrreryError, storeFailed } from '../protocol/errors.ts';
import { parseOptions } from '../protocol/parse-options.ts';
import type { Clock, NewSecret } from '../protocol/seams.ts';
import type { NumberedMail, PageOf, Store, StoreBatch, StoredRecord } from '../protocol/store.ts';
import { systemClock, systemSeams } from '../protocol/system-seams.ts';
import { backUp } from './backup.ts';
import { type JournalMetadata, sumOf } from './checksums.ts';
import { type HighWaterMark, markOf } from './high-water-mark.ts';
import { isInTheWay, sqliteFault } from './sqlite-fault.ts';
import { type OpenFile, openSqliteFile } from './sqlite-file.ts';
import { fromColumn, type MailRow, SqliteStatements } from './sqlite-statements.ts';
import { SqliteStoreOptions } from './sqlite-store-options.ts';
import { SqliteUpkeep } from './sqlite-upkeep.ts';
import { charactersOf } from './unit-format.ts';

/** `newSecret`: names each opening of a file. @default of the machine */
export interface SqliteStoreDeps {
  readonly clock: Clock;
  readonly newSecret?: NewSecret;
}

/** How often a backup is tried while writes go on, and in all. */
const TRIES_BESIDE_WRITES = 3;
const BACKUP_TRIES = 10;

/** So long after a write what the mark says is synced: as much of it may be old after a loss of power. */
const MARK_SYNC_MS = 1_000;

/**
 * A store in a file, for this process alone. SQLite writes synchronously, so it belongs in a thread of its own, and
 * nothing else in the process may open the file meanwhile: closing it again would free the lock.
 */
export class SqliteStore implements Store {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #upkeep: SqliteUpkeep;
  readonly #statements: SqliteStatements;
  readonly #mark: HighWaterMark;
  readonly #clock: Clock;
  #metadata: JournalMetadata;
  /** Writes wait until it is over. */
  #backup: Promise<void> | undefined;
  #cancelMarkSync: (() => void) | undefined;

  private constructor(
    file: string,
    { database, metadata, mark }: OpenFile,
    upkeep: SqliteUpkeep,
    clock: Clock,
  ) {
    this.#file = file;
    this.#database = database;
    this.#upkeep = upkeep;
    this.#statements = new SqliteStatements(database);
    this.#metadata = metadata;
    this.#mark = mark;
    this.#clock = clock;
  }

  /**
   * Opens the file, or makes it. Throws INVALID_OPTIONS; STORE_IN_USE; STORE_INVALID when the file is none of ours, has
   * another format or is damaged; STORE_FAILED when it cannot be opened for writing.
   */
  static open(
    options: z.input<typeof SqliteStoreOptions>,
    { clock, newSecret = systemSeams().newSecret }: SqliteStoreDeps = { clock: systemClock },
  ): SqliteStore {
    const parsed = parseOptions(SqliteStoreOptions, options, 'store');
    const file = resolve(parsed.path);
    const open = openSqliteFile(file, parsed, newSecret());
    const { database, mark } = open;
    try {
      const upkeep = new SqliteUpkeep({ database, file, options: parsed, clock });
      return new SqliteStore(file, open, upkeep, clock);
    } catch (error) {
      mark.close();
      database.close();
      throw sqliteFault(file, 'open', error);
    }
  }

  async write(batches: readonly StoreBatch[]): Promise<readonly number[]> {
    if (this.#backup !== undefined) await this.#backup;
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

  /** Copying and writing get into each other's way now and then: after some tries writes wait for it. */
  async backup(target: string): Promise<void> {
    this.#do('back up', () => undefined);
    const over = Promise.withResolvers<void>();
    try {
      for (let tries = 1; ; tries++) {
        try {
          return await backUp(this.#database, this.#file, target);
        } catch (error) {
          if (isOrreryError(error)) throw error;
          if (tries === BACKUP_TRIES || !isInTheWay(error)) throw sqliteFault(this.#file, 'back up', error);
          if (tries === TRIES_BESIDE_WRITES) this.#backup = over.promise;
        }
      }
    } finally {
      this.#backup = undefined;
      over.resolve();
    }
  }

  /** Of the file and its log. */
  bytes(): number {
    const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return sizeOf(this.#file) + sizeOf(`${this.#file}-wal`);
  }

  async close(): Promise<void> {
    this.#upkeep.close();
    this.#cancelMarkSync?.();
    if (!this.#database.isOpen) return;
    this.#syncMark();
    this.#mark.close();
    this.#do('close', () => this.#database.close());
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
    let { next } = this.#metadata;
    for (const { mails } of batches) {
      firstMails.push(next);
      next += mails.length;
    }
    if (batches.every(isNothing)) return firstMails;
    const amount: Amount = { characters: 0, pages: 0, checksums: 0 };
    this.#statements.begin();
    let metadata: JournalMetadata;
    try {
      for (let at = 0; at < batches.length; at++) {
        this.#apply(batches[at] as StoreBatch, firstMails[at] as number, amount);
      }
      const { commits, content, ...lives } = this.#metadata;
      metadata = { ...lives, next, commits: commits + 1, content: sumOf(content, amount.checksums) };
      this.#statements.putMetadata(metadata);
      this.#statements.commit();
    } catch (error) {
      // Of some errors SQLite has taken everything back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
    this.#metadata = metadata;
    this.#writeMark();
    this.#upkeep.afterWrite(amount.characters, amount.pages);
    return firstMails;
  }

  #apply(batch: StoreBatch, firstMail: number, amount: Amount): void {
    const { mails, settled, records } = batch;
    amount.checksums += this.#statements.insertMails(firstMail, mails);
    for (const [first, last] of runsOf(settled)) {
      amount.checksums -= this.#statements.deleteMails(first, last);
      amount.pages += 1 + ((last - first) >> 3);
    }
    for (const { kind, key, value } of records) {
      amount.checksums +=
        value === undefined
          ? this.#statements.deleteRecord(kind, key)
          : this.#statements.putRecord(kind, key, value);
    }
    amount.pages += records.length;
    amount.characters += charactersOf(batch);
  }

  /** What is committed is committed: where the mark cannot say so, it lags until the next commit. */
  #writeMark(): void {
    try {
      this.#mark.write(markOf(this.#metadata));
    } catch {
      return;
    }
    this.#cancelMarkSync ??= this.#clock.setTimer(MARK_SYNC_MS, () => {
      this.#cancelMarkSync = undefined;
      this.#syncMark();
    });
  }

  #syncMark(): void {
    try {
      this.#mark.sync();
    } catch {
      // It lags after a loss of power, and is tried again with the next commit.
    }
  }
}

/** What a write does: `characters` and `pages` a guess, `checksums` by how much those of all rows grow. */
interface Amount {
  characters: number;
  pages: number;
  checksums: number;
}

const isNothing = ({ mails, settled, records }: StoreBatch): boolean =>
  mails.length === 0 && settled.length === 0 && records.length === 0;

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
