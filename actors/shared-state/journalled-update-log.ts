import { z } from 'zod';
import { invalidOptions, refused } from '../../runtime/protocol/errors.ts';
import { requireText } from '../../runtime/protocol/parse-options.ts';
import type { AgentClient } from '../../runtime/public.ts';
import type { LoadedDocument, SyncSnapshot, UpdateLog } from './update-log.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';

/** What such a log needs of the records of a durable agent, which its client has. */
export type DocumentRecords = Pick<NonNullable<AgentClient['records']>, 'list' | 'put' | 'whenKept'>;

const SNAPSHOT = 'snapshot';
const UPDATE = 'update/';
/** Records that cannot be read are moved here, so that nothing takes their place. */
const ASIDE = 'aside/';
/** Keys sort as their numbers do. */
const DIGITS = 16;

const Counts = z.record(z.string(), z.int().nonnegative());
const JournalledUpdate = z.base64();
const JournalledSnapshot = z.strictObject({
  state: z.base64(),
  vectorClock: Counts,
  sessions: Counts,
  takenAtMs: z.number(),
});

/**
 * A document in the journal, among the records of a durable agent: one snapshot, and the updates after it under numbers.
 *
 * `append` and `compact` resolve when what they say survives the loss of power; while the journal cannot write they wait. A
 * snapshot and the end of what it takes the place of are one write: a crash leaves both or neither. A record that cannot be
 * read is named by `load` and moved aside.
 */
export class JournalledUpdateLog implements UpdateLog {
  readonly #records: DocumentRecords;
  readonly #name: string;
  readonly #kind: string;
  /** Keys of the updates that are there. */
  #keys: string[] = [];
  /** The number of the next update; unknown before `load`. */
  #next: number | undefined;

  /** `name` is the document's, in one line (else INVALID_OPTIONS); an agent has one log of it open at a time. */
  constructor(records: DocumentRecords, name: string) {
    requireText('name', name);
    if (name.includes('\n')) throw invalidOptions('name', name, 'a text of one line');
    this.#records = records;
    this.#name = name;
    this.#kind = `document/${name}`;
  }

  async append(update: Uint8Array): Promise<void> {
    const number = this.#requireLoaded();
    const key = UPDATE + String(number).padStart(DIGITS, '0');
    this.#next = number + 1;
    this.#keys.push(key);
    this.#put(key, base64(update));
    await this.#records.whenKept();
  }

  async compact({ state, ...counts }: SyncSnapshot): Promise<void> {
    this.#requireLoaded();
    this.#put(SNAPSHOT, { state: base64(state), ...counts });
    for (const key of this.#keys.splice(0)) this.#put(key, undefined);
    await this.#records.whenKept();
  }

  async load(): Promise<LoadedDocument> {
    let snapshot: SyncSnapshot | undefined;
    const updates: Uint8Array[] = [];
    const keys: string[] = [];
    const unreadable: string[] = [];
    let next = 0;
    for (const { key, value } of await this.#records.list(this.#kind)) {
      if (key.startsWith(ASIDE)) continue;
      if (key.startsWith(UPDATE)) next = Number(key.slice(UPDATE.length)) + 1;
      const fault = this.#read(key, value, {
        snapshot: (read) => {
          snapshot = read;
        },
        update: (read) => {
          keys.push(key);
          updates.push(read);
        },
      });
      if (fault === undefined) continue;
      unreadable.push(fault);
      this.#put(ASIDE + key, value);
      this.#put(key, undefined);
    }
    this.#keys = keys;
    this.#next = next;
    return { snapshot, updates, unreadable };
  }

  /** Reads a record, or says why it cannot be read. */
  #read(
    key: string,
    value: unknown,
    out: { snapshot: (read: SyncSnapshot) => void; update: (read: Uint8Array) => void },
  ): string | undefined {
    if (key === SNAPSHOT) {
      const parsed = JournalledSnapshot.safeParse(value);
      if (!parsed.success) return `Its snapshot cannot be read: ${faultsOf(parsed.error, value)}`;
      out.snapshot({ ...parsed.data, state: bytes(parsed.data.state) });
      return undefined;
    }
    const parsed = JournalledUpdate.safeParse(value);
    if (!key.startsWith(UPDATE) || !parsed.success) return `Its record "${key}" cannot be read`;
    out.update(bytes(parsed.data));
    return undefined;
  }

  /** Writes a record, also while the system stops. */
  #put(key: string, value: unknown): void {
    this.#records.put(this.#kind, key, value, { toTheLast: true });
  }

  #requireLoaded(): number {
    if (this.#next !== undefined) return this.#next;
    throw refused(`The log of "${this.#name}" is written to before it was loaded`, { name: this.#name });
  }
}

const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
