import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock } from '../protocol/seams.ts';
import { numberOf } from './examine-file.ts';
import type { SqliteStoreOptions } from './sqlite-store-options.ts';

/** How long after a write it is looked whether there is room to give back. */
const LOOK_AFTER_MS = 1_000;
/** Giving back goes on in steps, so that writes come in between. */
const NEXT_STEP_MS = 20;
const STEP_BYTES = 8 * 1_024 * 1_024;
/** Parts of pages, index pages, the page of the counter: what a commit writes beside its content, at most. */
const COMMIT_BYTES = 16_384;
/** What stands before each page in the log. */
const FRAME_BYTES = 24;
/** How far off the guess of what is written is thought to be, at most. */
const LEAST_SCALE = 0.5;
const MOST_SCALE = 2;

export interface UpkeepDeps {
  readonly database: DatabaseSync;
  readonly file: string;
  readonly options: SqliteStoreOptions;
  readonly clock: Clock;
}

/**
 * Keeps a store's files small: copies the log into the file when it has grown (a checkpoint), and gives the room of what
 * was deleted back to the file system when nobody needs it.
 *
 * What fails here is tried again later. It has no bearing on what is written: the log goes on growing meanwhile.
 */
export class SqliteUpkeep {
  readonly #deps: UpkeepDeps;
  readonly #checkpoint: StatementSync;
  readonly #markCheckpoint: StatementSync;
  readonly #freePages: StatementSync;
  readonly #pageBytes: number;
  /** What the log holds that the file does not have: a guess. */
  #loggedBytes = 0;
  /** By what the guess is multiplied: what the log turned out to hold when it was last copied. */
  #scale = 1;
  /** All that the log holds is in the guess. */
  #isWhole = false;
  #cancelLook: (() => void) | undefined;

  constructor(deps: UpkeepDeps) {
    const { database } = deps;
    this.#deps = deps;
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    this.#markCheckpoint = database.prepare('UPDATE counter SET checkpoints = checkpoints + 1');
    this.#freePages = database.prepare('PRAGMA freelist_count');
    this.#pageBytes = numberOf(database, 'PRAGMA page_size');
    this.#loggedBytes = statSync(`${deps.file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    this.#lookAfter(LOOK_AFTER_MS);
  }

  /** Before a write rather than after it, so that nobody waits for the answer meanwhile. */
  beforeWrite(): void {
    if (this.#isCheckpointDue) this.#makeCheckpoint();
  }

  /** So many characters were written, and so many pages here and there were changed. */
  afterWrite(characters: number, pages: number): void {
    const guess = COMMIT_BYTES + characters + (characters >> 2) + pages * this.#pageBytes;
    this.#loggedBytes += guess * this.#scale;
    this.#lookAfter(LOOK_AFTER_MS);
  }

  close(): void {
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  get #isCheckpointDue(): boolean {
    return this.#loggedBytes >= this.#deps.options.walBytes;
  }

  /**
   * The frames that the file has now stay in the log until it begins anew with the next commit. That one is made at once:
   * if the log lost its end meanwhile, older pages in what is left of it would hide newer ones in the file.
   */
  #makeCheckpoint(): void {
    try {
      this.#learn(Number((this.#checkpoint.get() as { log?: number } | undefined)?.log));
      this.#markCheckpoint.run();
      this.#loggedBytes = COMMIT_BYTES;
      this.#isWhole = true;
    } catch {
      this.#isWhole = false;
      this.#loggedBytes = this.#deps.options.walBytes >> 1; // The disk is full, perhaps; not with every write again.
    }
  }

  /** The log had so many pages. */
  #learn(pages: number): void {
    if (!(this.#isWhole && pages > 0 && Number.isFinite(this.#loggedBytes))) return;
    const scale = (this.#scale * pages * (this.#pageBytes + FRAME_BYTES)) / this.#loggedBytes;
    this.#scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
  }

  #lookAfter(ms: number): void {
    this.#cancelLook ??= this.#deps.clock.setTimer(ms, () => {
      this.#cancelLook = undefined;
      this.#tidy();
    });
  }

  #tidy(): void {
    const { database, options } = this.#deps;
    try {
      const freeBytes = this.#freeBytes();
      if (freeBytes > options.freeBytes) {
        const pages = Math.ceil(Math.min(STEP_BYTES, freeBytes - options.freeBytes) / this.#pageBytes);
        database.exec(`PRAGMA incremental_vacuum(${pages})`);
        this.#loggedBytes = Number.POSITIVE_INFINITY; // The file gets shorter with the checkpoint.
        this.#lookAfter(NEXT_STEP_MS);
      }
    } catch {
      this.#lookAfter(LOOK_AFTER_MS);
    }
    if (this.#isCheckpointDue) this.#makeCheckpoint();
  }

  #freeBytes(): number {
    return Number(Object.values(this.#freePages.get() ?? {})[0]) * this.#pageBytes;
  }
}
