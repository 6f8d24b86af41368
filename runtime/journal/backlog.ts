import { z } from 'zod';
import type { NumberedMail, RecordChange, Store } from '../protocol/store.ts';
import { fundsInRecord } from '../mailbox/mail-record.ts';
import { allRecords } from './all-records.ts';
import { readRecord } from './record-schema.ts';
import { ringFiles, type StartedRings } from './started-ring.ts';

/** How often a mail was begun on before, by its number. */
export const STARTS = 'starts';
export const Starts = z.string().regex(/^[0-9]{1,9}$/, 'expected a number');
const PAGE = 1_000;

/** A mail of a former process; `starts` counts the processes that ended while it was in hand. */
export interface LeftMail extends NumberedMail {
  readonly starts: number;
}

/**
 * What former processes have left in a store: whose mail waits, and which of it had been begun on.
 *
 * Only numbers are held, so that a hundred thousand envelopes cost a few megabytes; their bodies are read when they are
 * asked for.
 */
export class Backlog {
  readonly #store: Store;
  readonly #starts: ReadonlyMap<number, number>;
  /** Numbers by recipient, in order. */
  readonly #waiting: Map<string, number[]>;
  /** By recipient, what was given last, of which nobody has said yet that it outlives the thread that it was given to. */
  readonly #given = new Map<string, Given>();
  /** Names of the accounts that they draw on. */
  readonly accounts: ReadonlySet<number>;

  private constructor(store: Store, { starts, waiting, accounts }: Found) {
    this.#store = store;
    this.#starts = starts;
    this.#waiting = waiting;
    this.accounts = accounts;
  }

  /**
   * Reads what is there. What had been begun on is written into the store before the files that said so are removed:
   * `journal` is the path that they stand beside.
   */
  static async open(
    store: Store,
    journal: string | undefined,
    rings: StartedRings = ringFiles,
  ): Promise<Backlog> {
    const started = journal === undefined ? new Set<number>() : rings.read(journal);
    const before = await readStarts(store, journal);
    const waiting = new Map<string, number[]>();
    const starts = new Map<number, number>();
    const accounts = new Set<number>();
    for await (const page of pagesOf(store)) {
      for (const { number, recipient, body } of page) {
        for (const [name] of fundsInRecord(body) ?? []) accounts.add(name);
        const numbers = waiting.get(recipient);
        if (numbers === undefined) waiting.set(recipient, [number]);
        else numbers.push(number);
        const count = (before.get(number) ?? 0) + (started.has(number) ? 1 : 0);
        if (count > 0) starts.set(number, count);
      }
    }
    await store.write([{ mails: [], settled: [], records: changesOf(before, starts) }]);
    if (journal !== undefined) rings.remove(journal);
    return new Backlog(store, { starts, waiting, accounts });
  }

  /** How many envelopes are left for this agent, which the thread of `incarnation` has now. */
  count(recipient: string, incarnation: number): number {
    this.#takeBack(recipient, incarnation);
    return this.#waiting.get(recipient)?.length ?? 0;
  }

  /** Nothing is left for this agent any more. */
  forget(recipient: string): void {
    this.#waiting.delete(recipient);
    this.#given.delete(recipient);
  }

  /**
   * The oldest that are left for this agent, at most `limit`, for the thread of `incarnation`. They are not given again, unless that
   * dies before they are `held`.
   */
  async take(recipient: string, limit: number, incarnation: number): Promise<readonly LeftMail[]> {
    this.#takeBack(recipient, incarnation);
    const numbers = this.#waiting.get(recipient)?.splice(0, limit) ?? [];
    if (numbers.length === 0) this.#waiting.delete(recipient);
    else this.#given.set(recipient, { incarnation, numbers: new Set(numbers) });
    const mails = await this.#store.mailsAt(numbers);
    return mails.map((mail) => ({ ...mail, starts: this.#starts.get(mail.number) ?? 0 }));
  }

  /** These are known elsewhere too: the thread that was given them may die. */
  held(recipient: string, numbers: readonly number[]): void {
    const given = this.#given.get(recipient);
    if (given === undefined) return;
    for (const number of numbers) given.numbers.delete(number);
    if (given.numbers.size === 0) this.#given.delete(recipient);
  }

  /** What died with another thread before anybody else knew of it is the oldest that is left. */
  #takeBack(recipient: string, incarnation: number): void {
    const given = this.#given.get(recipient);
    if (given === undefined || given.incarnation === incarnation) return;
    this.#given.delete(recipient);
    this.#waiting.set(recipient, [...given.numbers, ...(this.#waiting.get(recipient) ?? [])]);
  }
}

/** Numbers that the thread of `incarnation` was given. */
interface Given {
  readonly incarnation: number;
  readonly numbers: Set<number>;
}

interface Found {
  readonly starts: ReadonlyMap<number, number>;
  readonly waiting: Map<string, number[]>;
  readonly accounts: ReadonlySet<number>;
}

async function* pagesOf(store: Store): AsyncGenerator<readonly NumberedMail[]> {
  for (let after = 0; ; ) {
    const page = await store.mails({ after, limit: PAGE });
    yield page;
    if (page.length < PAGE) return;
    after = (page.at(-1) as NumberedMail).number;
  }
}

async function readStarts(store: Store, file: string | undefined): Promise<Map<number, number>> {
  const starts = new Map<number, number>();
  for await (const record of allRecords(store, STARTS))
    starts.set(Number(record.key), Number(readRecord(record, Starts, file)));
  return starts;
}

/** What is to be written so that the store says `after`, and nothing of what is settled. */
function changesOf(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): RecordChange[] {
  const gone = [...before.keys()].filter((number) => !after.has(number));
  const changed = [...after].filter(([number, count]) => before.get(number) !== count);
  return [
    ...gone.map((number) => ({ kind: STARTS, key: String(number), value: undefined })),
    ...changed.map(([number, count]) => ({ kind: STARTS, key: String(number), value: String(count) })),
  ];
}
