import { z } from 'zod';
import type { SpentAmounts } from '../budget/spend-notes.ts';
import type { RecordChange, Store } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';
import { jsonText, readRecord } from './record-schema.ts';
import type { SpendFiles } from './spend-file.ts';

/**
 * A process that had the journal.
 *
 * - `number`  those of all processes differ.
 * - `boot`    of the machine; absent where that has no name.
 * - `isOver`  it has ended in order: all that it noted is here.
 */
export const Run = z.strictObject({
  number: z.int().positive(),
  boot: z.string().optional(),
  isOver: z.boolean(),
});
export type Run = z.infer<typeof Run>;

export const Spent = z.strictObject({ tokens: z.number(), micros: z.number() });

export const RUN = 'run';
export const SPENT = 'spent';
/** The key of the last account whose spending is not known. */
const UNKNOWN = 'unknown';
/** Names of accounts are numbers that begin with that of their run. */
const ACCOUNTS = 2 ** 32;
const LAST_RUN = 2 ** 20;
const NOTHING: SpentAmounts = { tokens: 0, micros: 0 };
const EVERYTHING: SpentAmounts = { tokens: Infinity, micros: Infinity };

export interface JournalledSpendsDeps {
  readonly store: Store;
  readonly files: SpendFiles;
  /** The path that the files stand beside. */
  readonly journal: string;
  /** The accounts that envelopes draw on which are left. */
  readonly named: ReadonlySet<number>;
}

/**
 * What was spent in all processes on the accounts that waiting envelopes draw on.
 *
 * The end of a process takes nothing from the files that say so; the loss of power may. After that nobody knows what was
 * spent on the accounts that there were: then it was everything.
 */
export class JournalledSpends {
  readonly #deps: JournalledSpendsDeps;
  readonly #run: Run;
  readonly #before: ReadonlyMap<number, SpentAmounts>;
  readonly #unknownUpTo: number;

  private constructor(
    deps: JournalledSpendsDeps,
    {
      run,
      before,
      unknownUpTo,
    }: { run: Run; before: ReadonlyMap<number, SpentAmounts>; unknownUpTo: number },
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#before = before;
    this.#unknownUpTo = unknownUpTo;
  }

  /** Reads what the last process had noted, before its files are removed. */
  static async open(deps: JournalledSpendsDeps): Promise<JournalledSpends> {
    const { store, files, journal, named } = deps;
    const last = await readRun(store, journal);
    const boot = files.boot();
    const { spent, unknownUpTo: knownFrom } = await readSpent(store, journal);
    const before = new Map([...spent].filter(([name]) => named.has(name)));
    const noted = last === undefined || last.isOver ? [] : files.read(journal, last.number);
    for (const [name, amounts] of noted)
      if (named.has(name)) before.set(name, sumOf(before.get(name), amounts));
    const isLost = last !== undefined && !last.isOver && last.boot !== boot;
    const unknownUpTo = isLost ? (last.number + 1) * ACCOUNTS : knownFrom;
    const run = { number: ((last?.number ?? 0) % LAST_RUN) + 1, boot, isOver: false };
    const gone = [...spent.keys()].filter((name) => !before.has(name));
    const records = [
      runRecord(run),
      spentRecord(UNKNOWN, named.size === 0 ? undefined : { tokens: unknownUpTo, micros: unknownUpTo }),
      ...gone.map((name) => spentRecord(String(name), undefined)),
      ...[...before].map(([name, amounts]) => spentRecord(String(name), amounts)),
    ];
    await store.write([{ mails: [], settled: [], records }]);
    files.remove(journal);
    return new JournalledSpends(deps, { run, before, unknownUpTo });
  }

  /** That of this process. */
  get run(): number {
    return this.#run.number;
  }

  /** What was spent so far, in all processes. */
  read(): (name: number) => SpentAmounts {
    const now = this.#deps.files.read(this.#deps.journal, this.run);
    return (name) => {
      if (name < this.#unknownUpTo) return EVERYTHING;
      return sumOf(this.#before.get(name), now.get(name));
    };
  }

  /** The process ends in order: what its threads have noted is written into the store. */
  async end(): Promise<void> {
    const { files, journal, store } = this.#deps;
    const noted = [...files.read(journal, this.run)].map(([name, amounts]) =>
      spentRecord(String(name), sumOf(this.#before.get(name), amounts)),
    );
    const records = [...noted, runRecord({ ...this.#run, isOver: true })];
    await store.write([{ mails: [], settled: [], records }]);
    files.remove(journal);
  }
}

const sumOf = (one = NOTHING, other = NOTHING): SpentAmounts => ({
  tokens: one.tokens + other.tokens,
  micros: one.micros + other.micros,
});

const runRecord = (run: Run): RecordChange => ({ kind: RUN, key: RUN, value: JSON.stringify(run) });

const spentRecord = (key: string, amounts: SpentAmounts | undefined): RecordChange => ({
  kind: SPENT,
  key,
  value: amounts && JSON.stringify(amounts),
});

async function readRun(store: Store, file: string): Promise<Run | undefined> {
  for await (const record of allRecords(store, RUN)) return readRecord(record, jsonText(Run), file);
  return undefined;
}

async function readSpent(
  store: Store,
  file: string,
): Promise<{ spent: Map<number, SpentAmounts>; unknownUpTo: number }> {
  const spent = new Map<number, SpentAmounts>();
  let unknownUpTo = 0;
  for await (const record of allRecords(store, SPENT)) {
    const { key } = record;
    const amounts = readRecord(record, jsonText(Spent), file);
    if (key === UNKNOWN) unknownUpTo = amounts.tokens;
    else spent.set(Number(key), amounts);
  }
  return { spent, unknownUpTo };
}
