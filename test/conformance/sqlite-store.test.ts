import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import type { StoredMail } from '../../runtime/protocol/store.ts';
import { rejection } from '../fixtures/until.ts';
import { storeSuite } from './store.suite.ts';

storeSuite('SqliteStore', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-store-'));
  return {
    // Little room, so that checkpoints happen among what is written.
    open: async () => SqliteStore.open({ path: join(folder, 'journal'), walBytes: 65_536 }),
    discard: async () => rmSync(folder, { recursive: true }),
  };
});

it('SqliteStore takes back what it did of a write that it cannot finish', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-store-'));
  const store = SqliteStore.open({ path: join(folder, 'journal') });
  const good = { recipient: 'ada', body: 'good' };
  const records = [{ kind: 'k', key: 'x', value: 'y' }];
  const broken = { mails: [good, {} as StoredMail], settled: [], records: [] };
  const refused = await rejection(store.write([{ mails: [good], settled: [], records }, broken]));
  expect(refused.code).toBe('STORE_FAILED');
  expect(await store.mails({ limit: 9 })).toEqual([]);
  expect(await store.records('k', { limit: 9 })).toEqual([]);
  expect(await store.write([{ mails: [good], settled: [], records: [] }])).toEqual([1]);
  await store.close();
  rmSync(folder, { recursive: true });
});
