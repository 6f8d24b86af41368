import { z } from 'zod';
import type { ErrorCode } from '../protocol/error-codes.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import type { StoredRecord, Store } from '../protocol/store.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { allRecords } from './all-records.ts';
import { jsonText, readRecord } from './record-schema.ts';

/** Dead letters that a journal keeps of each thread, and of all former processes together. */
export const MAX_DEAD_LETTERS = 4_096;
export const LETTER_KIND = 'dead-letters';
/** The digits of a key, so that keys sort as numbers do. */
const KEY_DIGITS = 16;

/**
 * A dead letter as it is kept. Its code may be one of another version, and its envelope says what its sender said: it is
 * looked at, not sent again.
 */
export const JournalledDeadLetter = z.object({
  id: z.string().exactOptional(),
  sender: z.string(),
  recipient: z.string(),
  type: z.string(),
  code: z.custom<ErrorCode>((code) => typeof code === 'string', 'expected a text'),
  reason: z.string(),
  stack: z.string().exactOptional(),
  atMs: z.number(),
  envelope: z
    .looseObject({
      id: z.string(),
      sender: z.string(),
      recipient: z.string(),
      type: z.string(),
      timestamp: z.number(),
    })
    .transform((envelope) => envelope as unknown as A2AEnvelope)
    .exactOptional(),
  partial: z.unknown().optional(),
});

/** A dead letter as a record. A payload that JSON cannot say is left out. */
export function letterRecord(number: number, letter: DeadLetter): StoredRecord {
  return { kind: LETTER_KIND, key: String(number).padStart(KEY_DIGITS, '0'), value: textOf(letter) };
}

/**
 * The dead letters of former processes, oldest first; of more than are to be kept the oldest are forgotten. Fails with
 * STORE_INVALID, which says that of `file`, where one is damaged.
 */
export async function readLetters(store: Store, file?: string): Promise<DeadLetter[]> {
  const records: StoredRecord[] = [];
  for await (const record of allRecords(store, LETTER_KIND)) records.push(record);
  const old = records.splice(0, Math.max(0, records.length - MAX_DEAD_LETTERS));
  if (old.length > 0) {
    const forgotten = old.map(({ kind, key }) => ({ kind, key, value: undefined }));
    await store.write([{ mails: [], settled: [], records: forgotten }]);
  }
  return records.map((record) => ({
    id: undefined,
    ...readRecord(record, jsonText(JournalledDeadLetter), file),
  }));
}

function textOf(letter: DeadLetter): string {
  try {
    return JSON.stringify(letter);
  } catch {
    const { envelope: _envelope, partial: _partial, ...bare } = letter;
    return JSON.stringify(bare);
  }
}
