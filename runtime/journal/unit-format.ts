import type { ErrorData } from '../protocol/errors.ts';
import type { RecordChange, StoreBatch, StoredMail } from '../protocol/store.ts';

/**
 * A batch as it crosses to the journal thread: one flat list, which clones several times faster than what it stands for.
 *
 * `[order, isAwaited, mails, settled, recipient, body, …, number, …, kind, key, value | null, …]`; `isAwaited` is 0 or 1,
 * the two behind it are counts.
 */
export type UnitMessage = readonly (string | number | null)[];

/** A batch and its order among those of all connections. `isAwaited`: somebody waits for it to be written. */
export interface Unit {
  readonly order: number;
  readonly isAwaited: boolean;
  readonly batch: StoreBatch;
}

const HEAD = 4;

export function writeUnit({ order, isAwaited, batch: { mails, settled, records } }: Unit): UnitMessage {
  const message: (string | number | null)[] = [order, isAwaited ? 1 : 0, mails.length, settled.length];
  for (const { recipient, body } of mails) message.push(recipient, body);
  for (const number of settled) message.push(number);
  for (const { kind, key, value } of records) message.push(kind, key, value ?? null);
  return message;
}

export function readUnit(message: UnitMessage): Unit {
  const mailsEnd = HEAD + 2 * (message[2] as number);
  const settledEnd = mailsEnd + (message[3] as number);
  const mails: StoredMail[] = [];
  for (let at = HEAD; at < mailsEnd; at += 2) {
    mails.push({ recipient: message[at] as string, body: message[at + 1] as string });
  }
  const settled = message.slice(mailsEnd, settledEnd) as number[];
  const records: RecordChange[] = [];
  for (let at = settledEnd; at < message.length; at += 3) {
    const value = message[at + 2] as string | null;
    records.push({ kind: message[at] as string, key: message[at + 1] as string, value: value ?? undefined });
  }
  return { order: message[0] as number, isAwaited: message[1] === 1, batch: { mails, settled, records } };
}

/** Sizes, for bounds; `characters` are those of all texts. */
export interface Amount {
  units: number;
  mails: number;
  characters: number;
}

export function charactersOf({ mails, records }: StoreBatch): number {
  let size = 0;
  for (const { recipient, body } of mails) size += recipient.length + body.length;
  for (const { kind, key, value } of records) size += kind.length + key.length + (value?.length ?? 0);
  return size;
}

/**
 * A message of the journal to a connection.
 *
 * - a list     so many units of this line are written, the oldest first: the number of the first mail of each.
 * - `failure`  what keeps the journal from writing; null: it writes again.
 */
export type JournalAnswer = readonly number[] | { readonly failure: ErrorData | null };
