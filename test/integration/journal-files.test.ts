import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-files-')));
chmodSync(folder, 0o777);
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
/** Where the header of a file of SQLite says how large its pages are. */
const PAGE_SIZE_AT = 16;
let path: string;
beforeEach(() => {
  path = join(folder, `journal-${++count}`);
});

/** What opening throws. */
function refusal(options: object): { code: string; message: string; details: Record<string, unknown> } {
  let store: SqliteStore;
  try {
    store = SqliteStore.open(options as { path: string });
  } catch (error) {
    const { code, message, details } = error as {
      code: string;
      message: string;
      details: Record<string, unknown>;
    };
    return { code, message, details };
  }
  void store.close();
  throw new Error('It was opened');
}

/** A closed store with so many mails. */
async function makeStore(mails = 200): Promise<void> {
  const store = SqliteStore.open({ path });
  const body = 'x'.repeat(400);
  await store.write([
    { mails: Array.from({ length: mails }, () => ({ recipient: 'ada', body })), settled: [], records: [] },
  ]);
  await store.close();
}

/** Changes a file with SQLite, as another program would. */
function withSqlite(sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

async function countMails(): Promise<number> {
  const store = SqliteStore.open({ path });
  const mails = await store.mails({ limit: 10_000 });
  await store.close();
  return mails.length;
}

describe('A store that another process has open', () => {
  it('is refused STORE_IN_USE, naming the process, and free again as soon as that was killed', async () => {
    const { child, lines, ended } = runFixture('store-writer', [JSON.stringify({ path }), '1', '0', '5']);
    for await (const line of lines) {
      if (line !== 'done') continue;
      for (let tries = 0; tries < 3; tries++) {
        expect(refusal({ path })).toEqual({
          code: 'STORE_IN_USE',
          message: `The store ${path} is open already in process ${child.pid}; one process at a time can use it`,
          details: { file: path, pid: child.pid },
        });
      }
      const link = `${path}-link`;
      symlinkSync(path, link);
      expect(refusal({ path: link })).toMatchObject({
        code: 'STORE_IN_USE',
        details: { file: link, pid: child.pid },
      });
      child.kill('SIGKILL');
    }
    await ended;
    expect(await countMails()).toBeGreaterThan(0);
  });

  it('is waited for if it is to be', async () => {
    const { child, lines, ended } = runFixture('store-writer', [JSON.stringify({ path }), '1', '0', '2']);
    for await (const line of lines) if (line === 'done') break;
    const waiting = runFixture('store-writer', [
      JSON.stringify({ path, lockWaitMs: 60_000 }),
      '2',
      '0',
      '1',
      'exit',
    ]);
    child.kill('SIGKILL');
    await ended;
    expect(await waiting.ended).toEqual({ code: 0, errors: '' });
  });

  it('is refused in the same process too, and the first one goes on', async () => {
    const store = SqliteStore.open({ path });
    expect(refusal({ path })).toMatchObject({
      code: 'STORE_IN_USE',
      details: { file: path, pid: process.pid },
    });
    expect(
      await store.write([{ mails: [{ recipient: 'ada', body: '' }], settled: [], records: [] }]),
    ).toEqual([1]);
    // The attempt has not freed the lock.
    const other = await resultOf<{ code: string }>(runFixture('open-store', [path]));
    expect(other.code).not.toBe('open');
    await store.close();
    expect(await countMails()).toBe(1);
  });
});

describe('A place where nothing can be written', () => {
  const refusedElsewhere = (): Promise<{ code: string; message: string }> =>
    resultOf(runFixture('open-store', [path]));

  it('is a folder that does not exist', () => {
    expect(refusal({ path: join(path, 'deep', 'journal') })).toMatchObject({
      code: 'STORE_FAILED',
      message: `The store ${path}/deep/journal failed to open: there is no folder ${path}/deep`,
      details: { file: `${path}/deep/journal`, operation: 'open' },
    });
    writeFileSync(path, '');
    expect(refusal({ path: join(path, 'journal') }).message).toContain(`there is no folder ${path}`);
  });

  it('is a folder itself', () => {
    mkdirSync(path);
    expect(refusal({ path })).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('it is a folder'),
    });
  });

  it('is a read-only file', async () => {
    await makeStore();
    chmodSync(path, 0o444);
    const { code, message } = await refusedElsewhere();
    expect(code).toBe('STORE_FAILED');
    expect(message).toContain(`${path} failed to open: it may not be written (EACCES`);
  });

  it.each(['with a store', 'without one'])('is a read-only folder, %s', async (which) => {
    const own = path;
    mkdirSync(own);
    path = join(own, 'journal');
    if (which === 'with a store') {
      await makeStore();
      chmodSync(path, 0o666);
    }
    chmodSync(own, 0o555);
    const { code, message } = await refusedElsewhere();
    expect(code).toBe('STORE_FAILED');
    expect(message).toContain(`${path} failed to open: the folder ${own} may not be written (EACCES`);
  });
});

describe('A file that is no store of this version', () => {
  it.each([
    ['a text', 'hello, this is a text\n'.repeat(500)],
    ['a short text', 'hello'],
    ['the beginning of a database', 'SQLite format 3\0'],
  ])('is refused STORE_INVALID and left as it is: %s', (_, content) => {
    writeFileSync(path, content);
    expect(refusal({ path })).toMatchObject({
      code: 'STORE_INVALID',
      message: `The store ${path} cannot be used: it is not a database`,
    });
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  it('is refused and left as it is: the database of another application', () => {
    withSqlite('PRAGMA application_id = 252006674; CREATE TABLE theirs (value)');
    const before = readFileSync(path);
    expect(refusal({ path })).toEqual({
      code: 'STORE_INVALID',
      message: `The store ${path} cannot be used: it belongs to another application (application_id 252006674)`,
      details: { file: path, reason: expect.any(String), application: 252_006_674 },
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.each(['CREATE TABLE theirs (value)', 'PRAGMA user_version = 2'])(
    'is refused: a database that nobody has signed (%s)',
    (sql) => {
      withSqlite(sql);
      expect(refusal({ path })).toMatchObject({
        code: 'STORE_INVALID',
        message: expect.stringContaining('another application'),
      });
    },
  );

  it.each([
    [4, 'newer', 'open it with the version that wrote it, or a later one'],
    [1, 'older', 'open it first with a version that reads format 1, and let its agents settle what it holds'],
    [0, 'older', 'open it first with a version that reads format 0, and let its agents settle what it holds'],
  ])(
    'is refused: format %i, naming it, those that are read, and the way to go on',
    async (format, age, way) => {
      await makeStore();
      withSqlite(`PRAGMA user_version = ${format}`);
      expect(refusal({ path })).toEqual({
        code: 'STORE_INVALID',
        message: `The store ${path} cannot be used: it has the ${age} format ${format}, this version reads formats 2 and 3; ${way}`,
        details: { file: path, reason: expect.any(String), format, expected: 3 },
      });
      withSqlite('PRAGMA user_version = 3');
      expect(await countMails()).toBe(200);
    },
  );

  it('is brought to the format of this version: one of the version before, with all that it holds', async () => {
    // The tables of format 2, and what a version that wrote it has left: 3 of 5 mails, in a log that was not copied.
    const database = new DatabaseSync(path);
    database.exec(`
      PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
      CREATE TABLE counter (next INTEGER NOT NULL, checkpoints INTEGER NOT NULL);
      INSERT INTO counter VALUES (6, 2);
      CREATE TABLE mails (number INTEGER PRIMARY KEY, recipient NOT NULL, body NOT NULL);
      CREATE TABLE records (kind NOT NULL, key NOT NULL, value NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
      PRAGMA application_id = ${0x4f72_7279}; PRAGMA user_version = 2;
      INSERT INTO mails VALUES (2, 'ada', 'two'), (4, 'bob', x'00d8'), (5, 'ada', 'five');
      INSERT INTO records VALUES ('agent', 'ada', 'state');
    `);
    const before = `${path}-before`;
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, before + suffix);
    database.close();
    path = before;
    for (let opened = 0; opened < 2; opened++) {
      const store = SqliteStore.open({ path });
      expect(await store.mails({ limit: 9 })).toEqual([
        { number: 2, recipient: 'ada', body: 'two' },
        { number: 4, recipient: 'bob', body: '\ud800' },
        { number: 5, recipient: 'ada', body: 'five' },
      ]);
      expect(await store.records('agent', { limit: 9 })).toEqual([
        { kind: 'agent', key: 'ada', value: 'state' },
      ]);
      await store.write([{ mails: [], settled: [9], records: [] }]);
      expect(await store.write([{ mails: [], settled: [], records: [] }])).toEqual([6]);
      await store.close();
    }
  });

  it.each(['', 'PRAGMA journal_mode = WAL', 'PRAGMA auto_vacuum = INCREMENTAL; VACUUM'])(
    'is taken if there is nothing in it at all (%s)',
    async (sql) => {
      if (sql === '') writeFileSync(path, '');
      else withSqlite(sql);
      await makeStore();
      expect(await countMails()).toBe(200);
      const database = new DatabaseSync(path);
      expect(Object.values(database.prepare('PRAGMA auto_vacuum').get() ?? {})).toEqual([2]);
      database.close();
    },
  );
});

describe('A damaged store', () => {
  it('is refused STORE_INVALID wherever its file was torn off, or has nothing in it any more', async () => {
    await makeStore();
    const whole = `${path}-whole`;
    copyFileSync(path, whole);
    const random = seededRandom(7);
    const size = statSync(whole).size;
    for (let tear = 0; tear < 40; tear++) {
      const at = tear === 0 ? 1 : Math.floor(random() * size);
      copyFileSync(whole, path);
      truncateSync(path, at);
      expect(refusal({ path }).code, `${at} of ${size} bytes`).toBe('STORE_INVALID');
      expect(statSync(path).size).toBe(at);
    }
  });

  it('is refused, or whole, whatever page of its file was overwritten', async () => {
    await makeStore();
    const whole = readFileSync(path);
    const pageBytes = whole.readUInt16BE(PAGE_SIZE_AT);
    const random = seededRandom(8);
    let refused = 0;
    for (let at = 0; at < whole.length; at += pageBytes) {
      const broken = Buffer.from(whole);
      for (let byte = at; byte < at + pageBytes; byte++) broken[byte] = Math.floor(random() * 256);
      writeFileSync(path, broken);
      try {
        expect(refusal({ path }).code).toBe('STORE_INVALID');
        refused += 1;
      } catch {
        expect(await countMails()).toBe(200); // A page that nothing is read from.
      }
    }
    expect(refused).toBeGreaterThan((whole.length / pageBytes) * 0.9);
  });

  it('is refused when a table of it is missing', async () => {
    await makeStore();
    withSqlite('DROP TABLE records');
    expect(refusal({ path })).toMatchObject({
      code: 'STORE_INVALID',
      message: expect.stringContaining('tables are missing'),
    });
  });

  it.each(['DELETE FROM counter', 'UPDATE counter SET next = 5'])(
    'is refused when its numbers cannot be right (%s)',
    async (sql) => {
      await makeStore();
      withSqlite(sql);
      expect(refusal({ path }).code).toBe('STORE_INVALID');
    },
  );
});

describe('Options of a store', () => {
  it.each([
    [{}, 'store.path is undefined'],
    [{ path: '' }, 'store.path is "", expected a path that is not empty'],
    [{ path: 'a\0b' }, 'store.path is "a\\u0000b", expected a path without NUL'],
    [{ path: 7 }, 'store.path is 7'],
    [{ path: 'x', walBytes: 3 }, 'store.walBytes is 3'],
    [{ path: 'x', freeBytes: -1 }, 'store.freeBytes is -1'],
    [{ path: 'x', maxBytes: 0.5 }, 'store.maxBytes is 0.5'],
    [{ path: 'x', lockWaitMs: 1e9 }, 'store.lockWaitMs is 1000000000'],
    [{ path: 'x', pathh: 'y' }, 'store.pathh is "y", expected no option of this name'],
  ])('are refused INVALID_OPTIONS: %j', (options, message) => {
    const { code, message: said } = refusal(options);
    expect(code).toBe('INVALID_OPTIONS');
    expect(said).toContain(message);
  });
});
