import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newAccountMemory } from '../../../runtime/budget/account-memory.ts';
import { checkJournalFile, salvageJournalFile } from '../../../runtime/journal/check-journal.ts';
import { Journal } from '../../../runtime/journal/journal.ts';
import { letterRecord } from '../../../runtime/journal/journalled-dead-letters.ts';
import { SqliteStore } from '../../../runtime/journal/sqlite-store.ts';
import { nodeEventLoop, systemSeams } from '../../../runtime/protocol/system-seams.ts';
import type { StoredRecord } from '../../../runtime/protocol/store.ts';
import type { DeadLetter } from '../../../runtime/protocol/dead-letter.ts';
import { rejection } from '../../fixtures/until.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-damaged-'));
  path = join(folder, 'journal.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const letter = (id: string): DeadLetter => ({
  id,
  sender: 'mars',
  recipient: 'venus',
  type: 'notification',
  code: 'ACTOR_DIED',
  reason: 'its process ended',
  atMs: 1,
  envelope: {
    id,
    schemaVersion: 1,
    sender: 'mars',
    recipient: 'venus',
    type: 'notification',
    timestamp: 1,
    payload: { n: 1 },
  },
});

/** A journal with this in it, whose checksums are right. */
async function leave(...records: StoredRecord[]): Promise<void> {
  const store = SqliteStore.open({ path });
  await store.write([{ mails: [{ recipient: 'venus', body: '[]' }], settled: [], records }]);
  await store.close();
}

const open = async (file: string): Promise<readonly DeadLetter[]> => {
  const store = SqliteStore.open({ path: file });
  try {
    const memory = newAccountMemory();
    const journal = await Journal.open(
      { store, accounts: memory, seams: systemSeams(), loop: nodeEventLoop() },
      { file },
    );
    await journal.taken('venus');
    return journal.letters;
  } finally {
    await store.close().catch(() => undefined);
  }
};

const whole = letterRecord(1, letter('whole'));
const key = '0000000000000002';
const KINDS: readonly (readonly [StoredRecord, string])[] = [
  [{ kind: 'dead-letters', key, value: '{"id":7,"sender":"mars"}' }, 'id is 7, expected a text'],
  [{ kind: 'dead-letters', key, value: 'null' }, `dead-letters "${key}"`],
  [{ ...letterRecord(2, { ...letter('odd'), envelope: 'none' as never }), key }, 'envelope is "none"'],
  [{ kind: 'dead-letters', key, value: '{' }, `dead-letters "${key}"`],
  [{ kind: 'run', key: 'run', value: '{"number":"many","isOver":true}' }, 'number is "many"'],
  [{ kind: 'spent', key: '9', value: '[]' }, 'spent "9"'],
  [{ kind: 'starts', key: '3', value: 'often' }, 'starts "3"'],
  [{ kind: 'taken', key: 'venus\nmars\na~1', value: '{"kind":0}' }, 'taken "venus\\nmars\\na~1"'],
];

describe('A record of a journal that is not what it should be, with a checksum that is right (N-D15, F-01)', () => {
  it.each(KINDS)('keeps a system from starting with a sentence that names it: %j', async (record, fault) => {
    await leave(whole, record);
    const error = (await rejection(open(path))) as Error & { code: string };
    expect(error).toMatchObject({ code: 'STORE_INVALID', message: expect.stringContaining(fault) });
    expect(error.message).toContain(record.kind);
    expect(error.message).toMatch(/--check.*--salvage/);
    // The check says the same, and what is salvaged is without it.
    const { damage, mails, records } = checkJournalFile(path);
    expect(damage).toEqual([expect.stringContaining(fault)]);
    expect(mails).toBe(1);
    expect(records).toBeGreaterThan(1);
    const target = join(folder, 'salvaged.db');
    const { lost } = salvageJournalFile(path, target);
    expect(lost).toContainEqual('records that say nothing of what they should: 1');
    expect(checkJournalFile(target).damage).toEqual([]);
    expect(await open(target)).toEqual([letter('whole')]);
  });

  it('is no record that others have written, nor a letter with a code of another version', async () => {
    const later = { ...letter('later'), code: 'LATER_CODE' as never, more: 1 };
    await leave(whole, letterRecord(2, later), { kind: 'mission', key: 'a', value: 'anything' });
    expect(checkJournalFile(path).damage).toEqual([]);
    expect(await open(path)).toMatchObject([{ id: 'whole' }, { id: 'later', code: 'LATER_CODE' }]);
  });
});
