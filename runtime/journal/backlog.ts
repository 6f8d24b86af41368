import type { NumberedMail, RecordChange, Store } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';
import { readStarted, removeRings } from './started-ring.ts';

/** How often a mail was begun on before, by its number. */
const STARTS = 'starts';
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

  private constructor(store: Store, starts: ReadonlyMap<number, number>, waiting: Map<string, number[]>) {
    this.#store = store;
    this.#starts = starts;
    this.#waiting = waiting;
  }

  /**
   * Reads what is there. What had been begun on is written into the store before the files that said so are removed:
   * `journal` is the path that they stand beside.
   */
  static async open(store: Store, journal: string | undefined): Promise<Backlog> {
    const started = journal === undefined ? new Set<number>() : readStarted(journal);
    const before = await readStarts(store);
    const waiting = new Map<string, number[]>();
    const starts = new Map<number, number>();
    for await (const { number, recipient } of allMails(store)) {
      const numbers = waiting.get(recipient);
      if (numbers === undefined) waiting.set(recipient, [number]);
      else numbers.push(number);
      const count = (before.get(number) ?? 0) + (started.has(number) ? 1 : 0);
      if (count > 0) starts.set(number, count);
    }
    await store.write([{ mails: [], settled: [], records: changesOf(before, starts) }]);
    if (journal !== undefined) removeRings(journal);
    return new Backlog(store, starts, waiting);
  }

  /** How many envelopes are left for this agent. */
  count(recipient: string): number {
    return this.#waiting.get(recipient)?.length ?? 0;
  }

  /** The oldest that are left for this agent, at most `limit`; they are not given again. */
  async take(recipient: string, limit: number): Promise<readonly LeftMail[]> {
    const numbers = this.#waiting.get(recipient)?.splice(0, limit) ?? [];
    if (numbers.length === 0) this.#waiting.delete(recipient);
    const mails: LeftMail[] = [];
    for (const run of runsOf(numbers)) mails.push(...(await this.#read(run)));
    return mails;
  }

  /** The mails with the numbers of one run that are still there. */
  async #read({ first, last, wanted }: Run): Promise<LeftMail[]> {
    const mails: LeftMail[] = [];
    for (let after = first - 1; after < last; ) {
      const page = await this.#store.mails({ after, limit: Math.min(PAGE, last - after) });
      for (const mail of page)
        if (wanted.has(mail.number)) mails.push({ ...mail, starts: this.#starts.get(mail.number) ?? 0 });
      after = page.at(-1)?.number ?? last;
    }
    return mails;
  }
}

/** Numbers that lie so close together that they are read at once. */
interface Run {
  readonly first: number;
  readonly last: number;
  readonly wanted: ReadonlySet<number>;
}

/** Numbers of others in between may be read in vain, as long as they are not many. */
const MOST_IN_VAIN = 64;

function runsOf(numbers: readonly number[]): Run[] {
  const runs: number[][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && number - (last.at(-1) as number) <= MOST_IN_VAIN) last.push(number);
    else runs.push([number]);
  }
  return runs.map((run) => ({
    first: run[0] as number,
    last: run.at(-1) as number,
    wanted: new Set(run),
  }));
}

async function* allMails(store: Store): AsyncGenerator<NumberedMail> {
  for (let after = 0; ; ) {
    const page = await store.mails({ after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = (page.at(-1) as NumberedMail).number;
  }
}

async function readStarts(store: Store): Promise<Map<number, number>> {
  const starts = new Map<number, number>();
  for await (const { key, value } of allRecords(store, STARTS)) starts.set(Number(key), Number(value));
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
