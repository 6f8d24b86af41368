import { SystemEvent } from '../protocol/system-event.ts';
import { type A2AEnvelope, parseEnvelope } from '../protocol/envelope.ts';
import { reasonOf } from '../protocol/errors.ts';
import type { Clock, EventLoop } from '../protocol/seams.ts';
import type { RecordChange, Store } from '../protocol/store.ts';
import { allRecords } from './all-records.ts';
import { HISTORY_KINDS, type HistoryKind, type HistoryLimits } from './journal-options.ts';
import { entriesOf, headOf, HistoryRing } from './history-ring.ts';

/** How long an entry waits, to be written with others: each write is a sync of the disk. */
const WRITE_MS = 250;
/** How long after a failed write it is tried again. */
const RETRY_MS = 5_000;
/** How often entries that are too old are looked for, when nothing is written. */
const PRUNE_MS = 3_600_000;
/** How often missing entries are reported, at most. */
const TELL_MS = 60_000;
/** Records that are read at once. */
const PAGE = 16;

/**
 * Entries of a thread for the history, each as JSON.
 *
 * - `missed` so many more there were, which it could not give.
 */
export interface Remembered extends Partial<Record<HistoryKind, readonly string[]>> {
  readonly missed: number;
}

export interface HistoryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly loop: Pick<EventLoop, 'yieldTurn'>;
  readonly limits: HistoryLimits;
  /** What is missing in it, a sentence. */
  readonly onMissing: (reason: string) => void;
}

/**
 * What the journal keeps of conversations and security events, within bounds. It is written behind what happens, in writes
 * of its own: neither mail nor whoever sends it waits for it, and where it cannot be written it is told and left out.
 */
export class History {
  readonly #deps: HistoryDeps;
  readonly #rings: ReadonlyMap<HistoryKind, HistoryRing>;
  #cancelWrite: (() => void) | undefined;
  #cancelPruning: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;
  /** Why it could not be written last. */
  #failure: string | undefined;
  #missed = 0;
  /** The reason why the first missed entry was not written. */
  #why = '';
  #cancelTell: (() => void) | undefined;

  private constructor(deps: HistoryDeps) {
    this.#deps = deps;
    this.#rings = new Map(HISTORY_KINDS.map((kind) => [kind, new HistoryRing(kind, deps.limits[kind])]));
  }

  /** Reads what is there; what is over the bounds goes with the first write. */
  static async open(deps: HistoryDeps): Promise<History> {
    const history = new History(deps);
    let unreadable = 0;
    for (const ring of history.#rings.values())
      for await (const record of allRecords(deps.store, ring.recordKind))
        if (!ring.restore(record)) unreadable += 1;
    if (unreadable > 0) deps.onMissing(unreadableText(unreadable));
    history.#plan(WRITE_MS);
    return history;
  }

  /** Adds entries to be written; returns at once. */
  add({ missed, ...entries }: Remembered): void {
    if (this.#isClosed) return;
    if (missed > 0) this.#miss(missed, 'they came faster than they are written');
    let refused = 0;
    for (const [kind, ring] of this.#rings)
      for (const text of entries[kind] ?? []) if (!ring.add(text)) refused += 1;
    if (refused > 0) this.#miss(refused, 'too much waits to be written');
    this.#plan(WRITE_MS);
  }

  /** The envelopes of a conversation that are kept, in the order of writing; one may come twice. */
  async envelopes(correlationId: string): Promise<readonly A2AEnvelope[]> {
    const sought = `"correlationId":${JSON.stringify(correlationId)}`;
    const found: A2AEnvelope[] = [];
    const read = (entry: unknown): boolean => {
      if ((entry as { correlationId?: unknown } | null)?.correlationId !== correlationId) return true;
      try {
        found.push(parseEnvelope(entry));
        return true;
      } catch {
        return false;
      }
    };
    await this.#read('traffic', undefined, { isSought: (text) => text.includes(sought), read });
    return found;
  }

  /** The newest security events that are kept, and envelopes that went from one tier to another; about `limit` of each. */
  async events(limit: number): Promise<readonly SystemEvent[]> {
    const found: SystemEvent[] = [];
    const read = (entry: unknown): boolean => {
      const event = SystemEvent.safeParse(entry);
      if (event.success) found.push(event.data);
      return event.success;
    };
    for (const kind of ['crossings', 'security'] as const)
      await this.#read(kind, this.#ring(kind).keyBefore(limit), { isSought: () => true, read });
    return found;
  }

  /** Writes what waits, if it can be written. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelWrite?.();
    this.#cancelPruning?.();
    this.#cancelTell?.();
    await this.#writing;
    await this.#write();
    this.#tell();
  }

  #ring(kind: HistoryKind): HistoryRing {
    return this.#rings.get(kind) as HistoryRing;
  }

  /** Has `read` see every entry behind the key `after`, oldest first, in texts that may have what is sought. */
  async #read(kind: HistoryKind, after: string | undefined, { isSought, read }: Reading): Promise<void> {
    const ring = this.#ring(kind);
    const { store, clock } = this.#deps;
    // What waits is taken first: it may be written meanwhile.
    const waiting = ring.waiting.filter(isSought);
    const oldestMs = clock.now();
    let damaged = 0;
    const readAll = (entries: readonly unknown[] | undefined): void => {
      if (entries === undefined) damaged += 1;
      for (const entry of entries ?? []) if (!read(entry)) damaged += 1;
    };
    for (let last = after; ; ) {
      const page = await store.records(ring.recordKind, {
        ...(last !== undefined && { after: last }),
        limit: PAGE,
      });
      for (const { value } of page) {
        const head = headOf(value);
        if (head !== undefined && ring.isExpired(head.atMs, oldestMs)) continue;
        if (isSought(value)) readAll(entriesOf(value));
      }
      last = page.at(-1)?.key;
      if (page.length < PAGE) break;
      await new Promise<void>((resolve) => this.#deps.loop.yieldTurn(resolve));
    }
    readAll(waiting.map((text) => JSON.parse(text) as unknown));
    if (damaged > 0) this.#deps.onMissing(unreadableText(damaged));
  }

  #plan(ms: number): void {
    if (this.#isClosed || this.#writing !== undefined) return;
    this.#cancelWrite ??= this.#deps.clock.setTimer(ms, () => {
      this.#cancelWrite = undefined;
      this.#cancelPruning?.();
      this.#writing = this.#write().then((isWritten) => {
        this.#writing = undefined;
        this.#planNext(isWritten);
      });
    });
  }

  #planNext(isWritten: boolean): void {
    if (this.#isClosed) return;
    if (this.#waitingCount > 0) this.#plan(isWritten ? WRITE_MS : RETRY_MS);
    else this.#cancelPruning = this.#deps.clock.setTimer(PRUNE_MS, () => this.#plan(0));
  }

  /** False: it could not be written, and waits. */
  async #write(): Promise<boolean> {
    const nowMs = this.#deps.clock.now();
    const writes = [...this.#rings.values()].flatMap((ring) => ring.write(nowMs) ?? []);
    if (writes.length === 0) return true;
    const records: RecordChange[] = writes.flatMap((write) => write.records);
    try {
      await this.#deps.store.write([{ mails: [], settled: [], records }]);
    } catch (error) {
      this.#failure = reasonOf(error);
      if (this.#isClosed) this.#miss(this.#waitingCount, this.#failure);
      return false;
    }
    for (const { written } of writes) written();
    this.#failure = undefined;
    return true;
  }

  get #waitingCount(): number {
    return [...this.#rings.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  #miss(count: number, why: string): void {
    this.#missed += count;
    this.#why ||= this.#failure ?? why;
    if (this.#cancelTell !== undefined) return;
    this.#cancelTell = this.#deps.clock.setTimer(TELL_MS, () => {
      this.#cancelTell = undefined;
      this.#tell();
    });
    this.#tell();
  }

  #tell(): void {
    if (this.#missed === 0) return;
    this.#deps.onMissing(`${this.#missed} events were not kept: ${this.#why}`);
    this.#missed = 0;
    this.#why = '';
  }
}

interface Reading {
  readonly isSought: (text: string) => boolean;
  /** False: it is nothing of the kind. */
  readonly read: (entry: unknown) => boolean;
}

const unreadableText = (count: number): string =>
  `${count} of its entries or records are not what was written, and are left out`;
