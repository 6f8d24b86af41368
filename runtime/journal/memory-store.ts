import { storeFailed, storeInUse } from '../protocol/errors.ts';
import type { NumberedMail, PageOf, Store, StoreBatch, StoredMail, StoredRecord } from '../protocol/store.ts';
import { byCharacters } from './all-records.ts';

const NAME = 'in memory';

/** The content of a memory store: like a file it outlives the store, and one store at a time uses it. */
export class MemoryMedium {
  /** In the order of their numbers. */
  readonly mails = new Map<number, StoredMail>();
  /** Values by key, by kind. */
  readonly records = new Map<string, Map<string, string>>();
  nextMail = 1;
  isOpen = false;
}

export interface MemoryStoreOptions {
  /** @default a new one */
  readonly medium?: MemoryMedium;
  /** Called before each write: what it throws the write fails with, and nothing is written before it resolves. */
  readonly beforeWrite?: (batches: readonly StoreBatch[]) => void | Promise<void>;
}

/** The contract of a store without a file: for tests and simulations. STORE_IN_USE while another one has the medium. */
export class MemoryStore implements Store {
  readonly #medium: MemoryMedium;
  readonly #beforeWrite: NonNullable<MemoryStoreOptions['beforeWrite']>;
  #isClosed = false;
  #isCrashed = false;
  /** The units that are being written. */
  #writing: readonly StoreBatch[] | undefined;
  /** Writes are one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ medium = new MemoryMedium(), beforeWrite = () => undefined }: MemoryStoreOptions = {}) {
    if (medium.isOpen) throw storeInUse(NAME);
    medium.isOpen = true;
    this.#medium = medium;
    this.#beforeWrite = beforeWrite;
  }

  async write(batches: readonly StoreBatch[]): Promise<readonly number[]> {
    this.#requireOpen('write');
    const written = this.#last.then(() => this.#write(batches));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async mails({ after = 0, limit }: PageOf<number>): Promise<readonly NumberedMail[]> {
    this.#requireOpen('read');
    const page: NumberedMail[] = [];
    for (const [number, mail] of this.#medium.mails) {
      if (page.length >= limit) break;
      if (number > after) page.push({ number, ...mail });
    }
    return page;
  }

  async mailsAt(numbers: readonly number[]): Promise<readonly NumberedMail[]> {
    this.#requireOpen('read');
    return numbers.flatMap((number) => {
      const mail = this.#medium.mails.get(number);
      return mail === undefined ? [] : [{ number, ...mail }];
    });
  }

  async records(kind: string, { after, limit }: PageOf<string>): Promise<readonly StoredRecord[]> {
    this.#requireOpen('read');
    const values = this.#medium.records.get(kind) ?? new Map<string, string>();
    return [...values]
      .filter(([key]) => after === undefined || byCharacters(key, after) > 0)
      .sort(([one], [other]) => byCharacters(one, other))
      .slice(0, limit)
      .map(([key, value]) => ({ kind, key, value }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#last;
    this.#medium.isOpen = false;
  }

  /**
   * Ends it as a crash of its process does: the medium may be opened again. What is being written is lost, or it is there
   * whole and nobody is told, if it `survives`; then its batches are returned with the number of the first mail of each.
   */
  crash({ survives = false } = {}): { batches: readonly StoreBatch[]; firstMails: number[] } | undefined {
    this.#isClosed = true;
    this.#isCrashed = true;
    this.#medium.isOpen = false;
    const batches = this.#writing;
    if (!survives || batches === undefined) return undefined;
    return { batches, firstMails: batches.map((batch) => this.#apply(batch)) };
  }

  async #write(batches: readonly StoreBatch[]): Promise<readonly number[]> {
    this.#writing = batches;
    try {
      await this.#beforeWrite(batches);
    } finally {
      this.#writing = undefined;
    }
    if (this.#isCrashed) throw storeFailed(NAME, 'write', 'its process has ended');
    return batches.map((batch) => this.#apply(batch));
  }

  #apply({ mails, settled, records }: StoreBatch): number {
    const medium = this.#medium;
    const firstMail = medium.nextMail;
    for (const mail of mails)
      medium.mails.set(medium.nextMail++, { recipient: mail.recipient, body: mail.body });
    for (const number of settled) medium.mails.delete(number);
    for (const { kind, key, value } of records) {
      const values = medium.records.get(kind) ?? new Map<string, string>();
      if (value === undefined) values.delete(key);
      else values.set(key, value);
      if (values.size > 0) medium.records.set(kind, values);
      else medium.records.delete(kind);
    }
    return firstMail;
  }

  #requireOpen(operation: string): void {
    if (this.#isClosed) throw storeFailed(NAME, operation, 'it is closed');
  }
}
