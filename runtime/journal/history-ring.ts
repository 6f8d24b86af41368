import { Fifo } from '../mailbox/fifo.ts';
import type { RecordChange, StoredRecord } from '../protocol/store.ts';
import type { HistoryBounds, HistoryKind } from './journal-options.ts';

/** The digits of a key, so that keys sort as numbers do. */
const KEY_DIGITS = 16;
/** A record holds so many entries at most, and an eighth of what all may be: with the oldest go few others. */
const CHUNK_ENTRIES = 64;
const CHUNK_CHARACTERS = 64 * 1_024;
const SHARE = 8;
/** Texts that wait to be written, in characters; what comes beyond is not kept. */
const WAITING_CHARACTERS = 2 * 1_024 * 1_024;

/** One record with some entries, without their texts. */
interface Chunk {
  readonly key: string;
  readonly count: number;
  readonly bytes: number;
  readonly atMs: number;
}

/** One write: its changes, and what to call when they are written. */
export interface HistoryWrite {
  readonly records: readonly RecordChange[];
  readonly written: () => void;
}

/**
 * The last entries of one kind within its bounds, in records of some entries each, and what waits to be one. Texts are in
 * the store alone.
 */
export class HistoryRing {
  readonly recordKind: string;
  readonly #bounds: HistoryBounds;
  readonly #chunks = new Fifo<Chunk>();
  /** Keys of records that nobody can read. */
  #unreadable: string[] = [];
  #next = 1;
  #count = 0;
  #bytes = 0;
  #waiting: string[] = [];
  #waitingCharacters = 0;

  constructor(kind: HistoryKind, bounds: HistoryBounds) {
    this.recordKind = recordKindOf(kind);
    this.#bounds = bounds;
  }

  /** Takes up a record of a former process; the oldest comes first. False: nobody can read it, and it will go. */
  restore({ key, value }: StoredRecord): boolean {
    const number = Number(key);
    if (Number.isSafeInteger(number)) this.#next = Math.max(this.#next, number + 1);
    const head = headOf(value);
    if (head === undefined) {
      this.#unreadable.push(key);
      return false;
    }
    this.#push({ key, ...head, bytes: Buffer.byteLength(value) });
    return true;
  }

  /** False: too much waits already, and it is not kept. */
  add(text: string): boolean {
    if (this.#waitingCharacters + text.length > WAITING_CHARACTERS) return false;
    this.#waiting.push(text);
    this.#waitingCharacters += text.length;
    return true;
  }

  /** Entries that are not written yet, oldest first. */
  get waiting(): readonly string[] {
    return this.#waiting;
  }

  /** What is to be written at this moment: what waits is added, and the oldest go; undefined when that is nothing. */
  write(nowMs: number): HistoryWrite | undefined {
    const texts = [...this.#waiting];
    const added = this.#chunksOf(texts, nowMs);
    let count = this.#count + texts.length;
    let bytes = added.reduce((sum, chunk) => sum + chunk.bytes, this.#bytes);
    let gone = 0;
    const chunkAt = (at: number): Chunk | undefined => this.#chunks.at(at) ?? added[at - this.#chunks.length];
    for (let oldest = chunkAt(0); oldest !== undefined; oldest = chunkAt(gone)) {
      const isOver = count > this.#bounds.maxCount || bytes > this.#bounds.maxBytes;
      if (!isOver && !this.isExpired(oldest.atMs, nowMs)) break;
      count -= oldest.count;
      bytes -= oldest.bytes;
      gone += 1;
    }
    const unreadable = this.#unreadable;
    const old = Array.from({ length: Math.min(gone, this.#chunks.length) }, (_, at) => chunkAt(at) as Chunk);
    const kept = added.slice(gone - old.length);
    const kind = this.recordKind;
    const records = [
      ...[...unreadable, ...old.map(({ key }) => key)].map((key) => ({ kind, key, value: undefined })),
      ...kept.map(({ key, value }) => ({ kind, key, value })),
    ];
    if (records.length === 0 && texts.length === 0) return undefined;
    const written = (): void => {
      this.#waiting = this.#waiting.slice(texts.length);
      this.#waitingCharacters -= texts.reduce((sum, text) => sum + text.length, 0);
      this.#unreadable = this.#unreadable.slice(unreadable.length);
      this.#next += added.length;
      for (const { count: less, bytes: smaller } of old) {
        this.#chunks.shift();
        this.#count -= less;
        this.#bytes -= smaller;
      }
      for (const { value: _, ...chunk } of kept) this.#push(chunk);
    };
    return { records, written };
  }

  isExpired(atMs: number, nowMs: number): boolean {
    return atMs < nowMs - this.#bounds.maxAgeMs;
  }

  /** The key behind which the newest `limit` entries are; undefined: all are among them. */
  keyBefore(limit: number): string | undefined {
    let count = 0;
    for (let at = this.#chunks.length - 1; at >= 0; at--) {
      const { key, count: more } = this.#chunks.at(at) as Chunk;
      if (count >= limit) return key;
      count += more;
    }
    return undefined;
  }

  #push(chunk: Chunk): void {
    this.#chunks.push(chunk);
    this.#count += chunk.count;
    this.#bytes += chunk.bytes;
  }

  /** Records for these texts, in their order. */
  #chunksOf(texts: readonly string[], atMs: number): (Chunk & { readonly value: string })[] {
    const { maxCount, maxBytes } = this.#bounds;
    const most = Math.max(1, Math.min(CHUNK_ENTRIES, Math.floor(maxCount / SHARE)));
    const mostCharacters = Math.min(CHUNK_CHARACTERS, Math.floor(maxBytes / SHARE));
    const chunks: (Chunk & { readonly value: string })[] = [];
    let some: string[] = [];
    let characters = 0;
    const end = (): void => {
      if (some.length === 0) return;
      const value = recordTextOf(some, atMs);
      const key = String(this.#next + chunks.length).padStart(KEY_DIGITS, '0');
      chunks.push({ key, count: some.length, bytes: Buffer.byteLength(value), atMs, value });
      some = [];
      characters = 0;
    };
    for (const text of texts) {
      if (some.length === most || characters + text.length > mostCharacters) end();
      some.push(text);
      characters += text.length;
    }
    end();
    return chunks;
  }
}

export const recordKindOf = (kind: HistoryKind): string => `history-${kind}`;

/** A line that says when and how many, then a JSON list of the entries. */
const recordTextOf = (texts: readonly string[], atMs: number): string =>
  `${atMs} ${texts.length}\n[${texts.join(',')}]`;

const HEAD = /^(\d{1,16}) (\d{1,7})$/;
/** A head is not longer. */
const HEAD_CHARACTERS = 25;

/** When the entries of a record were written, and how many they are; undefined where that cannot be read. */
export function headOf(value: string): { readonly atMs: number; readonly count: number } | undefined {
  const end = value.indexOf('\n');
  if (end < 0 || end > HEAD_CHARACTERS) return undefined;
  const [, atMs, count] = HEAD.exec(value.slice(0, end)) ?? [];
  return atMs === undefined ? undefined : { atMs: Number(atMs), count: Number(count) };
}

/** The entries of a record, as JSON says them; undefined where nobody can read them. */
export function entriesOf(value: string): readonly unknown[] | undefined {
  try {
    const entries = JSON.parse(value.slice(value.indexOf('\n') + 1)) as unknown;
    return Array.isArray(entries) ? entries : undefined;
  } catch {
    return undefined;
  }
}
