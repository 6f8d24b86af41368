import { describe, expect, it } from 'vitest';
import {
  MAX_DEAD_LETTERS,
  letterRecord,
  readLetters,
} from '../../../runtime/journal/journalled-dead-letters.ts';
import { MemoryStore } from '../../../runtime/journal/memory-store.ts';
import { forgottenRecord, readTaken, takenRecord } from '../../../runtime/journal/taken-ids.ts';
import type { RecordChange } from '../../../runtime/protocol/store.ts';
import type { DeadLetter } from '../../../runtime/protocol/dead-letter.ts';

async function storeOf(records: readonly RecordChange[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.write([{ mails: [], settled: [], records }]);
  return store;
}

const letter = (atMs: number): DeadLetter => ({
  id: `m${atMs}`,
  sender: 'mars',
  recipient: 'venus',
  type: 'notification',
  code: 'ACTOR_DIED',
  reason: 'its process ended',
  atMs,
});

describe('Dead letters that are kept', () => {
  it('are read in the order of their envelopes, and only the newest stay', async () => {
    const count = MAX_DEAD_LETTERS + 50;
    const records = Array.from({ length: count }, (_, at) => letterRecord(at + 95, letter(at)));
    const store = await storeOf(records);
    const letters = await readLetters(store);
    expect(letters.map(({ atMs }) => atMs)).toEqual(
      Array.from({ length: MAX_DEAD_LETTERS }, (_, at) => at + 50),
    );
    expect(await readLetters(store)).toEqual(letters);
  });

  it('are kept without what JSON cannot say', async () => {
    const odd = { ...letter(1), partial: 1n };
    expect(await readLetters(await storeOf([letterRecord(1, odd)]))).toEqual([letter(1)]);
  });
});

describe('Ids that an agent took and that may be sent again', () => {
  it("are an agent's own, whatever the names of others begin with", async () => {
    const taken = (agent: string, id: string, answer = '') => ({ agent, sender: 'mars', id, answer });
    const all = [
      taken('venus', 'a~1', '[0,42]'),
      taken('venus', 'b~1'),
      taken('venus-2', 'a~1'),
      taken('venu', 'a~1'),
    ];
    const store = await storeOf(all.map(takenRecord));
    expect(await readTaken(store, 'venus')).toEqual(all.slice(0, 2));
    await store.write([{ mails: [], settled: [], records: [forgottenRecord(all[0] as (typeof all)[0])] }]);
    expect(await readTaken(store, 'venus')).toEqual([all[1]]);
  });

  it('are read page by page, however many', async () => {
    const all = Array.from({ length: 2_345 }, (_, at) => ({
      agent: 'venus',
      sender: 'mars',
      id: `m${String(at).padStart(5, '0')}`,
      answer: '',
    }));
    expect(await readTaken(await storeOf(all.map(takenRecord)), 'venus')).toEqual(all);
  });
});
