import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkJournalFile, salvageJournalFile } from '../../runtime/journal/check-journal.ts';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import type { OrreryError } from '../../runtime/protocol/errors.ts';
import type { NumberedMail, StoredRecord } from '../../runtime/protocol/store.ts';
import { StoreModel } from '../fixtures/store-model.ts';
import { contentOf, told, writeOf } from '../fixtures/store-script.ts';
import { rejection } from '../fixtures/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-damage-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SUFFIXES = ['', '-wal', '-mark'] as const;
type Suffix = (typeof SUFFIXES)[number];
type Files = Readonly<Record<Suffix, Buffer | undefined>>;

const filesOf = (path: string): Files =>
  Object.fromEntries(
    SUFFIXES.map((suffix) => [suffix, existsSync(path + suffix) ? readFileSync(path + suffix) : undefined]),
  ) as Files;

function put(path: string, files: Files): void {
  for (const suffix of SUFFIXES) {
    rmSync(path + suffix, { force: true });
    const bytes = files[suffix];
    if (bytes !== undefined) writeFileSync(path + suffix, bytes);
  }
}

/** A journal whose process was killed, one of before that, and what was ever in it. */
interface Left {
  readonly files: Files;
  readonly older: Files;
  readonly model: StoreModel;
  readonly mails: ReadonlySet<string>;
  readonly records: ReadonlySet<string>;
}

const keyOf = (row: NumberedMail | StoredRecord): string => JSON.stringify(Object.values(row));

/** `walBytes`: with little room checkpoints are made, with much all there is lies in the log. */
async function leave(name: string, walBytes: number): Promise<Left> {
  const path = join(folder, name);
  const store = SqliteStore.open({ path, walBytes });
  const model = new StoreModel();
  const mails = new Set<string>();
  const records = new Set<string>();
  let older = filesOf(path);
  for (let index = 0; index < 40; index++) {
    const batches = writeOf(5, index, model);
    await store.write(batches);
    model.write(batches);
    for (const mail of model.allMails()) mails.add(keyOf(mail));
    for (const record of told(model).records) records.add(keyOf(record));
    if (index === 25) older = filesOf(path);
  }
  const files = filesOf(path);
  await store.close();
  return { files, older, model, mails, records };
}

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const fault = fc.oneof(
  fc.record({ kind: fc.constant('flipped' as const), place, bit: fc.nat({ max: 7 }) }),
  fc.record({ kind: fc.constant('cut' as const), place }),
  fc.record({ kind: fc.constant('emptied' as const) }),
  fc.record({ kind: fc.constant('gone' as const) }),
);
type Fault = typeof fault extends fc.Arbitrary<infer Value> ? Value : never;
/** Of the mark one thing alone is wrong: an older one that is whole is what a loss of power leaves. */
const damage = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(fc.tuple(fc.constantFrom('' as const, '-wal' as const), fault), {
      minLength: 1,
      maxLength: 3,
    }),
  },
  { weight: 1, arbitrary: fault.map((one): [Suffix, Fault][] => [['-mark', one]]) },
);

function spoil(files: Files, faults: readonly (readonly [Suffix, Fault])[]): Files {
  const spoilt: Record<Suffix, Buffer | undefined> = { ...files };
  for (const [suffix, one] of faults) {
    const bytes = spoilt[suffix];
    if (bytes === undefined) continue;
    if (one.kind === 'gone') spoilt[suffix] = undefined;
    else if (one.kind === 'emptied') spoilt[suffix] = Buffer.alloc(0);
    else if (one.kind === 'cut') spoilt[suffix] = bytes.subarray(0, Math.floor(one.place * bytes.length));
    else if (bytes.length > 0) {
      const flipped = Buffer.from(bytes);
      const at = Math.floor(one.place * bytes.length);
      flipped[at] = (flipped[at] as number) ^ (1 << one.bit);
      spoilt[suffix] = flipped;
    }
  }
  return spoilt;
}

/** What is held, or the error of opening. */
async function opened(path: string): Promise<ReturnType<typeof told> | OrreryError> {
  let store: SqliteStore;
  try {
    store = SqliteStore.open({ path });
  } catch (error) {
    return error as OrreryError;
  }
  try {
    return told(await contentOf(store));
  } finally {
    await store.close();
  }
}

describe.each([
  ['all of which is in its log', 1_024 * 1_024 * 1_024],
  ['part of which is in its log', 65_536],
])('A journal, %s', (name, walBytes) => {
  const path = join(folder, 'copy');
  let left: Left;
  beforeAll(async () => {
    left = await leave(`whole-${walBytes}`, walBytes);
  });

  it('is opened as it was left', async () => {
    put(path, left.files);
    expect(await opened(path), name).toEqual(told(left.model));
  });

  /** It is refused and left as it is, or holds all that was written; true when it is refused. */
  const isRefused = async (files: Files): Promise<boolean> => {
    put(path, files);
    const found = await opened(path);
    if (!('code' in found)) {
      expect(found).toEqual(told(left.model));
      return false;
    }
    expect(found.code).toBe('STORE_INVALID');
    expect(filesOf(path)).toEqual(files);
    return true;
  };

  it.each([1, 20, 23, 96])(
    'of which %i bytes are left is refused without its log, and left as it is',
    async (bytes) => {
      const cut = { ...left.files, '': left.files['']?.subarray(0, bytes) };
      await isRefused(cut);
      expect(await isRefused({ ...cut, '-wal': undefined })).toBe(true);
    },
  );

  it('that is damaged is told as such and left as it is, or holds all that was written', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(damage, async (faults) => {
        if (await isRefused(spoil(left.files, faults))) refused += 1;
      }),
      { numRuns: 100 },
    );
    expect(refused).toBeGreaterThan(50);
  }, 120_000);

  it('gives what is whole to a new one, and nothing that was never written', async () => {
    const target = join(folder, 'salvaged');
    await fc.assert(
      fc.asyncProperty(damage, async (faults) => {
        const files = spoil(left.files, faults);
        put(path, files);
        put(target, { '': undefined, '-wal': undefined, '-mark': undefined });
        let told: ReturnType<typeof salvageJournalFile> | undefined;
        try {
          told = salvageJournalFile(path, target);
        } catch (error) {
          // Where nothing is left, or nothing that can be read.
          expect(['STORE_INVALID', 'INVALID_OPTIONS']).toContain((error as OrreryError).code);
        }
        expect(filesOf(path)).toEqual(files);
        if (told === undefined) {
          expect(existsSync(target)).toBe(false);
          return;
        }
        const store = SqliteStore.open({ path: target });
        const mails = await store.mails({ limit: 10_000 });
        const records = await store.records('state', { limit: 10_000 });
        await store.close();
        expect(mails).toHaveLength(told.mails);
        for (const mail of mails) expect(left.mails).toContain(keyOf(mail));
        for (const record of records) expect(left.records).toContain(keyOf(record));
        if (told.lost.length === 0) expect(mails).toEqual(left.model.allMails());
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  it.each([
    ['is an older copy', { '': 'older', '-wal': 'older' }, /the last \d+ are missing/],
    ['is an older copy without a log', { '': 'older', '-wal': undefined }, /missing|nothing in it/],
    [
      'has lost its log',
      { '-wal': undefined },
      /the last \d+ are missing: .* its log .*-wal is gone|nothing in it/,
    ],
    [
      'was cut to nothing beside its log',
      { '': 'nothing' },
      /there is nothing in it, but .*-mark says that it held \d+ commits/,
    ],
    [
      'has lost its file',
      { '': undefined },
      /there is nothing in it, but .*-mark says that it held \d+ commits/,
    ],
    ['has lost its mark', { '-mark': undefined }, /-mark is gone, so nobody can tell/],
  ] as const)('that %s is refused by name, with the way to go on', async (_, changes, reason) => {
    const changed = Object.entries(changes).map(([suffix, from]) => [
      suffix,
      from === 'older' ? left.older[suffix as Suffix] : from === 'nothing' ? Buffer.alloc(0) : undefined,
    ]);
    const files = { ...left.files, ...(Object.fromEntries(changed) as Partial<Files>) };
    put(path, files);
    const refusal = (await opened(path)) as OrreryError;
    expect(refusal).toMatchObject({ code: 'STORE_INVALID', message: expect.stringMatching(reason) });
    expect(refusal.message).toContain(`"orrery journal ${path} --check" says what is damaged`);
    expect(refusal.message).toContain('"--salvage NEW" in its place gets out what is whole');
    expect(filesOf(path)).toEqual(files);
    const { damage: found } = checkJournalFile(path);
    expect(found.length).toBeGreaterThan(0);
    expect(refusal.message).toContain(found[0]);
  });
});

describe('A mark', () => {
  it('may be torn in one of its halves, and of the other journal is told', async () => {
    const { files, model } = await leave('marked', 65_536);
    const path = join(folder, 'copy');
    for (const at of [0, 4_096]) {
      const mark = Buffer.from(files['-mark'] as Buffer);
      mark.fill(0xaa, at, at + 4_096);
      put(path, { ...files, '-mark': mark });
      expect(await opened(path)).toEqual(told(model));
    }
    const other = await leave('other', 65_536);
    put(path, { ...other.files, '-mark': files['-mark'] });
    expect(await opened(path)).toMatchObject({
      code: 'STORE_INVALID',
      message: expect.stringMatching(/not the journal that .*-mark belongs to|commits the last/),
    });
  });

  it('is behind, and never ahead, whenever the process ends while a journal is opened', async () => {
    const path = join(folder, 'reopened');
    await SqliteStore.open({ path }).close();
    const store = SqliteStore.open({ path });
    const begun = filesOf(path);
    await store.close();
    const closed = filesOf(path);
    const again = SqliteStore.open({ path });
    const newer = filesOf(path);
    await again.close();
    // The file has a new life, and its mark says nothing of it yet.
    put(path, { ...newer, '-mark': closed['-mark'] });
    expect('code' in (await opened(path))).toBe(false);
    // One of the life before that cannot be: it is synced before the next life begins.
    put(path, { ...newer, '-mark': begun['-mark'] });
    expect('code' in (await opened(path))).toBe(false);
    copyFileSync(path, `${path}-kept`);
    await SqliteStore.open({ path }).close();
    copyFileSync(`${path}-kept`, path);
    expect(await opened(path)).toMatchObject({ code: 'STORE_INVALID' });
  });

  it('is refused where there is no journal', async () => {
    expect((await rejection(Promise.resolve().then(() => checkJournalFile(join(folder, 'none'))))).code).toBe(
      'INVALID_OPTIONS',
    );
  });
});
