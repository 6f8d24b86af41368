import type { StoredRecord, Store } from '../protocol/store.ts';
import type { DeadLetter } from '../system/system.ts';
import { allRecords } from './all-records.ts';

/** Dead letters that a journal keeps of each thread, and of all former processes together. */
export const LETTERS_KEPT = 4_096;
const KIND = 'dead-letters';
/** So that keys sort as numbers do. */
const KEY_DIGITS = 16;

/** A dead letter as a record. A payload that JSON cannot say is left out. */
export function letterRecord(number: number, letter: DeadLetter): StoredRecord {
  return { kind: KIND, key: String(number).padStart(KEY_DIGITS, '0'), value: textOf(letter) };
}

/** The dead letters of former processes, oldest first; of more than are to be kept the oldest are forgotten. */
export async function readLetters(store: Store): Promise<DeadLetter[]> {
  const records: StoredRecord[] = [];
  for await (const record of allRecords(store, KIND)) records.push(record);
  const old = records.splice(0, Math.max(0, records.length - LETTERS_KEPT));
  if (old.length > 0) {
    const forgotten = old.map(({ kind, key }) => ({ kind, key, value: undefined }));
    await store.write([{ mails: [], settled: [], records: forgotten }]);
  }
  return records.map(({ value }) => JSON.parse(value) as DeadLetter);
}

function textOf(letter: DeadLetter): string {
  try {
    return JSON.stringify(letter);
  } catch {
    const { envelope: _envelope, partial: _partial, ...bare } = letter;
    return JSON.stringify(bare);
  }
}
