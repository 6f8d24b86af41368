import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NumberedMail, Store, StoreBatch, StoredRecord } from '../../runtime/protocol/store.ts';
import { StoreModel } from '../fixtures/store-model.ts';
import { rejection } from '../fixtures/until.ts';

/** Where a store keeps things: what one has written the next one finds. `discard` leaves nothing of it. */
export interface StoreUnderTest {
  open(): Promise<Store>;
  discard(): Promise<void>;
}

const NOTHING: StoreBatch = { mails: [], settled: [], records: [] };
const mailsOf = (recipient: string, ...bodies: string[]): StoreBatch => ({
  ...NOTHING,
  mails: bodies.map((body) => ({ recipient, body })),
});
const settling = (...settled: number[]): StoreBatch => ({ ...NOTHING, settled });
const recording = (...records: [kind: string, key: string, value: string | undefined][]): StoreBatch => ({
  ...NOTHING,
  records: records.map(([kind, key, value]) => ({ kind, key, value })),
});

async function allMails(store: Store, limit = 1_000): Promise<NumberedMail[]> {
  const all: NumberedMail[] = [];
  for (;;) {
    const page = await store.mails({ after: all.at(-1)?.number ?? 0, limit });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

async function allRecords(store: Store, kind: string, limit = 1_000): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await store.records(kind, { ...(last !== undefined && { after: last.key }), limit });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/** The contract of `Store` as tests; a store is one if it passes them unchanged. */
export function storeSuite(name: string, make: () => StoreUnderTest): void {
  describe(`${name} as a store`, () => {
    let under: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      under = make();
      store = await under.open();
    });

    afterEach(async () => {
      await store.close();
      await under.discard();
    });

    const reopen = async (): Promise<void> => {
      await store.close();
      store = await under.open();
    };

    const bodies = async (): Promise<string[]> => (await allMails(store)).map(({ body }) => body);

    describe('writing', () => {
      it('numbers mails densely, in the order of batches and of mails in them', async () => {
        expect(await store.write([mailsOf('ada', 'a', 'b'), NOTHING, mailsOf('bob', 'c')])).toEqual([
          1, 3, 3,
        ]);
        expect(await store.write([settling(2), mailsOf('ada', 'd')])).toEqual([4, 4]);
        expect(await allMails(store)).toEqual([
          { number: 1, recipient: 'ada', body: 'a' },
          { number: 3, recipient: 'bob', body: 'c' },
          { number: 4, recipient: 'ada', body: 'd' },
        ]);
      });

      it('answers a batch without mails with the number that the next mail gets', async () => {
        expect(await store.write([NOTHING])).toEqual([1]);
        expect(await store.write([])).toEqual([]);
        expect(await store.write([mailsOf('ada', 'a'), settling(1)])).toEqual([1, 2]);
        expect(await store.write([mailsOf('ada', 'b')])).toEqual([2]);
      });

      it('does several writes in the order in which they were called', async () => {
        const firsts = await Promise.all([
          store.write([mailsOf('ada', 'a', 'b'), recording(['k', 'x', '1'])]),
          store.write([mailsOf('ada', 'c'), recording(['k', 'x', '2'])]),
          store.write([settling(1), recording(['k', 'x', '3'])]),
        ]);
        expect(firsts).toEqual([
          [1, 3],
          [3, 4],
          [4, 4],
        ]);
        expect(await bodies()).toEqual(['b', 'c']);
        expect(await store.records('k', { limit: 9 })).toEqual([{ kind: 'k', key: 'x', value: '3' }]);
      });

      it('applies the batches one after the other, and in each mails, then settled, then records', async () => {
        await store.write([
          recording(['k', 'x', 'old'], ['k', 'y', 'y'], ['k', 'x', 'new']),
          settling(1),
          { mails: [{ recipient: 'ada', body: 'kept' }], settled: [2], records: [] },
          recording(['k', 'y', undefined], ['k', 'z', 'z'], ['k', 'z', undefined]),
        ]);
        expect(await bodies()).toEqual(['kept']);
        expect(await allRecords(store, 'k')).toEqual([{ kind: 'k', key: 'x', value: 'new' }]);
      });

      it('forgets what is settled, and ignores numbers that are not there, or no numbers of mails', async () => {
        await store.write([mailsOf('ada', 'a', 'b', 'c', 'd', 'e')]);
        await store.write([settling(4, 2, 2, 99, 0, -3, 2.5, Number.MAX_SAFE_INTEGER, 5)]);
        expect(await bodies()).toEqual(['a', 'c']);
        await store.write([settling(4, 1, 3)]);
        expect(await bodies()).toEqual([]);
      });

      it('deletes records that are there, and none that are not', async () => {
        await store.write([recording(['k', 'x', '1'], ['k', 'y', '2'], ['other', 'x', '3'])]);
        await store.write([
          recording(['k', 'x', undefined], ['k', 'nobody', undefined], ['none', 'x', undefined]),
        ]);
        expect(await allRecords(store, 'k')).toEqual([{ kind: 'k', key: 'y', value: '2' }]);
        expect(await allRecords(store, 'other')).toHaveLength(1);
        expect(await allRecords(store, 'none')).toEqual([]);
      });
    });

    describe('numbers', () => {
      it('are never given twice, though all mails are gone and the store was opened anew', async () => {
        await store.write([mailsOf('ada', 'a', 'b', 'c')]);
        await store.write([settling(1, 2, 3)]);
        await reopen();
        expect(await store.write([NOTHING, mailsOf('ada', 'd')])).toEqual([4, 4]);
        await store.write([settling(4)]);
        await reopen();
        await reopen();
        expect(await store.write([mailsOf('ada', 'e')])).toEqual([5]);
      });
    });

    describe('reading', () => {
      it('gives pages that begin after a number and end at the limit', async () => {
        await store.write([mailsOf('ada', ...'abcdefg')]);
        await store.write([settling(2, 5)]);
        expect((await store.mails({ limit: 3 })).map(({ number }) => number)).toEqual([1, 3, 4]);
        expect((await store.mails({ after: 4, limit: 3 })).map(({ number }) => number)).toEqual([6, 7]);
        expect((await store.mails({ after: 1, limit: 1 })).map(({ number }) => number)).toEqual([3]);
        expect(await store.mails({ after: 7, limit: 3 })).toEqual([]);
      });

      it('gives the mails of certain numbers that are there, in their order', async () => {
        await store.write([mailsOf('ada', ...'abcd'), mailsOf('bob', 'e')]);
        await store.write([settling(2)]);
        const found = await store.mailsAt([1, 2, 4, 5, 6]);
        expect(found).toEqual([
          { number: 1, recipient: 'ada', body: 'a' },
          { number: 4, recipient: 'ada', body: 'd' },
          { number: 5, recipient: 'bob', body: 'e' },
        ]);
        expect(await store.mailsAt([])).toEqual([]);
      });

      it('shows every mail once that is there all the while, however much is written between pages', async () => {
        await store.write([mailsOf('ada', ...Array.from({ length: 40 }, (_, at) => `old ${at + 1}`))]);
        const seen: number[] = [];
        for (let page = await store.mails({ limit: 7 }); page.length > 0; ) {
          seen.push(...page.map(({ number }) => number));
          const last = page.at(-1)?.number as number;
          await store.write([settling(last, last - 1, 40), mailsOf('bob', 'new')]);
          if (seen.length > 100) break;
          page = await store.mails({ after: last, limit: 7 });
        }
        expect(seen.slice(0, 39)).toEqual(Array.from({ length: 39 }, (_, at) => at + 1));
        expect(new Set(seen).size).toBe(seen.length);
      });

      it('gives records of one kind by key, in the order of code points', async () => {
        const keys = ['b', 'a', 'Z', '10', '9', 'é', '\u{ffff}', '\u{1f600}', '', ' ', 'a\0', 'ab', 'a\0b'];
        await store.write([recording(...keys.map((key): [string, string, string] => ['k', key, `v${key}`]))]);
        await store.write([recording(['j', 'zz', ''], ['l', 'aa', ''])]);
        const sorted = ['', ' ', '10', '9', 'Z', 'a', 'a\0', 'a\0b', 'ab', 'b', 'é', '\u{ffff}', '\u{1f600}'];
        for (const limit of [1, 2, 5, 100]) {
          expect((await allRecords(store, 'k', limit)).map(({ key }) => key)).toEqual(sorted);
        }
        expect(await store.records('k', { after: 'a', limit: 2 })).toEqual([
          { kind: 'k', key: 'a\0', value: 'va\0' },
          { kind: 'k', key: 'a\0b', value: 'va\0b' },
        ]);
      });
    });

    describe('texts', () => {
      const ODD = [
        '',
        '\0',
        'before\0after',
        '7',
        '1e3',
        '007',
        "'; DROP TABLE mails; --",
        'ünïcödé 漢字 \u{1f468}\u{200d}\u{1f469}',
        '\u{feff}mark',
        '\ud800',
        'half \udc00 of one',
        '\r\n\t\u2028',
        '\u{10ffff}',
      ];

      it('come back as they were given, in every column, also after opening anew', async () => {
        const mails = ODD.map((text) => ({ recipient: text, body: `${text}${text}` }));
        const records = ODD.flatMap((kind) => ODD.map((key) => ({ kind, key, value: kind + key })));
        await store.write([{ mails, settled: [], records }]);
        await reopen();
        expect((await allMails(store)).map(({ recipient, body }) => ({ recipient, body }))).toEqual(mails);
        for (const kind of ODD) {
          const found = await allRecords(store, kind, 3);
          expect(found.toSorted(byKey)).toEqual(
            records.filter((record) => record.kind === kind).toSorted(byKey),
          );
        }
        await store.write([
          recording(
            ...records
              .map(({ kind, key }) => [kind, key, undefined] as const)
              .map(([kind, key]): [string, string, undefined] => [kind, key, undefined]),
          ),
        ]);
        for (const kind of ODD) expect(await allRecords(store, kind)).toEqual([]);
      });

      it('may be five million characters long', async () => {
        const body = 'ab\u00e9'.repeat(1_700_000);
        const value = '\u{1f600}x'.repeat(1_700_000);
        await store.write([
          mailsOf('ada', 'before', body, 'after'),
          recording(['k', 'x', value], ['k', 'y', 'small']),
        ]);
        await reopen();
        expect((await store.mails({ after: 1, limit: 1 }))[0]?.body === body).toBe(true);
        expect((await store.records('k', { limit: 1 }))[0]?.value === value).toBe(true);
        await store.write([settling(2), recording(['k', 'x', 'short'])]);
        expect(await bodies()).toEqual(['before', 'after']);
        expect((await allRecords(store, 'k')).map(({ value: text }) => text)).toEqual(['short', 'small']);
      });
    });

    describe('opening and closing', () => {
      it('refuses a second one while it is open, and lets it in afterwards', async () => {
        await store.write([mailsOf('ada', 'a')]);
        expect((await rejection(under.open())).code).toBe('STORE_IN_USE');
        await store.write([mailsOf('ada', 'b')]);
        await reopen();
        expect(await bodies()).toEqual(['a', 'b']);
      });

      it('waits for what is being written, and closes once however often it is closed', async () => {
        const written = store.write([mailsOf('ada', 'a')]);
        await Promise.all([store.close(), store.close()]);
        await store.close();
        expect(await written).toEqual([1]);
        store = await under.open();
        expect(await bodies()).toEqual(['a']);
      });

      it('does nothing after it was closed but say so', async () => {
        await store.close();
        for (const work of [
          store.write([mailsOf('ada', 'a')]),
          store.mails({ limit: 1 }),
          store.mailsAt([1]),
          store.records('k', { limit: 1 }),
        ]) {
          expect(await rejection(work)).toMatchObject({
            code: 'STORE_FAILED',
            message: expect.stringContaining('it is closed'),
          });
        }
        store = await under.open();
        expect(await bodies()).toEqual([]);
      });
    });

    it('holds what a plain model holds, whatever is written, settled, recorded, read and opened anew', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
          const place = make();
          const model = new StoreModel();
          let open = await place.open();
          try {
            for (const { batches, limit, isReopened } of steps) {
              expect(await open.write(batches)).toEqual(model.write(batches));
              if (isReopened) {
                await open.close();
                open = await place.open();
              }
              expect(await allMails(open, limit)).toEqual(model.allMails());
              for (const kind of KINDS)
                expect(await allRecords(open, kind, limit)).toEqual(model.allRecords(kind));
            }
          } finally {
            await open.close();
            await place.discard();
          }
        }),
        { numRuns: 100 },
      );
    }, 120_000);
  });
}

const byKey = ({ key: one }: StoredRecord, { key: other }: StoredRecord): number => (one < other ? -1 : 1);

const KINDS = ['agents', 'b'];
const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.constant('x'.repeat(5_000)),
);

const batch: fc.Arbitrary<StoreBatch> = fc.record({
  mails: fc.array(fc.record({ recipient: fc.constantFrom('ada', 'bob', '\u{1fa90}'), body: text }), {
    maxLength: 4,
  }),
  settled: fc.array(fc.integer({ min: -1, max: 60 }), { maxLength: 6 }),
  records: fc.array(
    fc.record({
      kind: fc.constantFrom(...KINDS),
      key: fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.string({ unit: 'binary', maxLength: 3 })),
      value: fc.option(text, { nil: undefined }),
    }),
    { maxLength: 4 },
  ),
});

const step = fc.record({
  batches: fc.array(batch, { maxLength: 4 }),
  limit: fc.integer({ min: 1, max: 9 }),
  isReopened: fc.integer({ min: 0, max: 3 }).map((chance) => chance === 0),
});
