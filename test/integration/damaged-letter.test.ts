import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkJournal, openJournal, salvageJournal, startSystem } from 'orrery';
import { LETTER_KIND } from '../../runtime/journal/journalled-dead-letters.ts';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import { rejection } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-letter-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('tells by its name a dead letter that is none, does not start, and starts on what was salvaged (N-D15, F-01)', async () => {
  const path = join(folder, 'journal.db');
  const store = SqliteStore.open({ path });
  const key = '0000000000000012';
  const value =
    '{"id":"a-1","sender":"mars","recipient":"venus","type":"request","code":"POISON","reason":7,"atMs":1}';
  await store.write([{ mails: [], settled: [], records: [{ kind: LETTER_KIND, key, value }] }]);
  await store.close();
  const said = `its record dead-letters "${key}" is not what was written: reason is 7, expected a text`;
  const refused = await rejection(startSystem({ agents: [], journal: { path } }));
  expect(refused).toMatchObject({
    code: 'STORE_INVALID',
    message: expect.stringContaining(`${path} cannot be used`),
  });
  expect(refused.message).toContain(said);
  expect((await checkJournal(path)).damage).toEqual([`it is damaged (${said})`]);
  const looked = await openJournal(path);
  expect(await rejection(looked.deadLetters())).toMatchObject({ code: 'STORE_INVALID' });
  await looked.close();
  const target = join(folder, 'salvaged.db');
  expect((await salvageJournal(path, target)).lost).toHaveLength(2);
  const system = await startSystem({ agents: [], journal: { path: target } });
  expect(await system.deadLetters()).toEqual([]);
  await system.stop();
});
