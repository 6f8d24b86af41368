/**
 * An envelope as a store keeps it until its outcome is known.
 *
 * - `recipient` the agent in whose mailbox it is.
 * - `body`      the mail as JSON; the store does not look into it.
 */
export interface StoredMail {
  readonly recipient: string;
  readonly body: string;
}

/** A mail with the number that the store gave it. Numbers grow in the order of writing and are never given twice. */
export interface NumberedMail extends StoredMail {
  readonly number: number;
}

/** A piece of state, by kind and key. The store does not look into `value`. */
export interface StoredRecord {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
}

/** A change of a record. `value` undefined: the record is deleted, if it is there. */
export type RecordChange = Omit<StoredRecord, 'value'> & { readonly value: string | undefined };

/**
 * What a store writes in one step: all of it, or nothing.
 *
 * - `mails`   envelopes to keep; in this order they are given dense numbers.
 * - `settled` numbers of mails whose outcome is known: they are forgotten. One that is not there is ignored.
 * - `records` changes of state, one after the other.
 */
export interface StoreBatch {
  readonly mails: readonly StoredMail[];
  readonly settled: readonly number[];
  readonly records: readonly RecordChange[];
}

/** One page of what is kept: at most `limit`, after the last of the page before. */
export interface PageOf<Position> {
  readonly after?: Position;
  readonly limit: number;
}

/**
 * Where a system keeps what must outlive its process. Everything that uses one works on this contract, and one suite of
 * tests runs against every implementation.
 *
 * Texts are given back as they were written, whatever they hold. What is written is there for the next one that opens the
 * store, however the process ended; what was being written then is there whole, or not at all.
 *
 * A store has one user at a time; opening one that another has open, in this process or elsewhere, fails with
 * STORE_IN_USE. What goes wrong rejects with STORE_FAILED, which says what and where, or with STORE_INVALID when the file
 * turns out to be damaged; a write that is rejected has left nothing behind, and may be written again.
 */
export interface Store {
  /**
   * Writes the batches in their order, in one step; of several writes the one that was called first comes first. Resolves
   * when they survive the loss of power, to the number of the first mail of each; of a batch without mails, to the number
   * that the next one would get.
   */
  write(batches: readonly StoreBatch[]): Promise<readonly number[]>;
  /** Mails whose outcome is not known, by number. */
  mails(page: PageOf<number>): Promise<readonly NumberedMail[]>;
  /** Those of these mails whose outcome is not known, in order. The numbers must grow. */
  mailsAt(numbers: readonly number[]): Promise<readonly NumberedMail[]>;
  /** Records of one kind, by key in the order of code points. Keys with lone surrogates come last. */
  records(kind: string, page: PageOf<string>): Promise<readonly StoredRecord[]>;
  /**
   * Copies all that is written to `target`, a path where nothing is yet, so that it can be opened there; writing goes on
   * meanwhile. Left out by a store that cannot. Fails with INVALID_OPTIONS when something is at `target`.
   */
  backup?(target: string): Promise<void>;
  /** How much room it takes. Left out by a store that takes none on a disk. */
  bytes?(): number;
  /** Closes the store when what is being written is there. It may be called again. */
  close(): Promise<void>;
}
