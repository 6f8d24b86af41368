import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedDocument, SyncSnapshot, UpdateLog } from '../../actors/shared-state/update-log.ts';

/** A log to be tested: `open` gives it as the next process has it, after the one before has ended; `discard` removes it. */
export interface LogUnderTest {
  open(): Promise<UpdateLog>;
  discard(): Promise<void>;
}

const bytesOf = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

const snapshotOf = (state: Uint8Array, count = 1): SyncSnapshot => ({
  state,
  vectorClock: { mars: count, 'venus "2"\n': 0 },
  sessions: { mars: 1_800_000_000_000 + count },
  takenAtMs: 1_800_000_000_000.5,
});

/** What a log holds, in plain values. */
const told = ({ snapshot, updates, unreadable = [] }: LoadedDocument) => ({
  snapshot: snapshot && { ...snapshot, state: [...snapshot.state] },
  updates: updates.map((update) => [...update]),
  unreadable: [...unreadable],
});

/** The contract of `UpdateLog` as tests; a log is one if it passes them unchanged. */
export function updateLogSuite(name: string, make: () => Promise<LogUnderTest>): void {
  describe(`${name} as a log of a shared document (N-9.3)`, () => {
    let under: LogUnderTest;
    let log: UpdateLog;

    beforeEach(async () => {
      under = await make();
      log = await under.open();
      await log.load();
    });

    afterEach(() => under.discard());

    const reopen = async (): Promise<LoadedDocument> => {
      log = await under.open();
      return log.load();
    };

    it('is empty at first', async () => {
      expect(told(await log.load())).toEqual({ snapshot: undefined, updates: [], unreadable: [] });
      expect(told(await reopen())).toEqual({ snapshot: undefined, updates: [], unreadable: [] });
    });

    it('gives updates back byte for byte, in their order', async () => {
      const every = Uint8Array.from({ length: 256 }, (_, at) => at);
      const within = every.subarray(7, 12);
      for (const update of [every, bytesOf(), within, Buffer.from('größe')]) await log.append(update);
      const expected = [[...every], [], [7, 8, 9, 10, 11], [...Buffer.from('größe')]];
      expect(told(await log.load()).updates).toEqual(expected);
      expect(told(await reopen()).updates).toEqual(expected);
    });

    it('gives back the last snapshot and the updates after it', async () => {
      await log.append(bytesOf(1));
      await log.compact(snapshotOf(bytesOf(1), 1));
      await log.append(bytesOf(2));
      await log.append(bytesOf(3));
      await log.compact(snapshotOf(bytesOf(1, 2, 3), 3));
      await log.append(bytesOf(4));
      const expected = {
        snapshot: { ...snapshotOf(bytesOf(), 3), state: [1, 2, 3] },
        updates: [[4]],
        unreadable: [],
      };
      expect(told(await log.load())).toEqual(expected);
      expect(told(await reopen())).toEqual(expected);
    });

    it('does what it is told in the order in which it is told', async () => {
      await Promise.all([
        log.append(bytesOf(1)),
        log.compact(snapshotOf(bytesOf(1))),
        log.append(bytesOf(2)),
        log.compact(snapshotOf(bytesOf(1, 2), 2)),
        log.append(bytesOf(3)),
        log.append(bytesOf(4)),
      ]);
      const expected = {
        snapshot: { ...snapshotOf(bytesOf(), 2), state: [1, 2] },
        updates: [[3], [4]],
        unreadable: [],
      };
      expect(told(await reopen())).toEqual(expected);
    });

    it('goes on behind what a former process left, and compacts that, too', async () => {
      await log.append(bytesOf(1));
      await reopen();
      await log.append(bytesOf(2));
      await reopen();
      await log.append(bytesOf(3));
      expect(told(await reopen()).updates).toEqual([[1], [2], [3]]);
      await log.compact(snapshotOf(bytesOf(1, 2, 3)));
      expect(told(await reopen())).toMatchObject({ snapshot: { state: [1, 2, 3] }, updates: [] });
      await log.append(bytesOf(4));
      expect(told(await reopen())).toMatchObject({ snapshot: { state: [1, 2, 3] }, updates: [[4]] });
    });

    it('holds thousands of updates, and large ones', async () => {
      const numbers = Array.from({ length: 2_500 }, (_, at) => [at % 256, at >> 8]);
      await Promise.all(numbers.map((number) => log.append(Uint8Array.from(number))));
      const large = new Uint8Array(3_000_000).fill(7);
      await log.append(large);
      const { updates } = await reopen();
      expect(updates.slice(0, -1).map((update) => [...update])).toEqual(numbers);
      expect(Buffer.compare(updates.at(-1) as Uint8Array, large)).toBe(0);
      await log.compact(snapshotOf(large));
      const compacted = await reopen();
      expect(compacted.updates).toEqual([]);
      expect(Buffer.compare(compacted.snapshot?.state as Uint8Array, large)).toBe(0);
    });

    it('holds what a plain list holds, whatever is appended, compacted, loaded and opened anew', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
          const place = await make();
          try {
            let open = await place.open();
            await open.load();
            let expected: { snapshot?: number[] | undefined; updates: number[][] } = { updates: [] };
            for (const { kind, bytes } of steps) {
              if (kind === 'append') {
                await open.append(bytes);
                expected.updates.push([...bytes]);
              } else if (kind === 'compact') {
                await open.compact(snapshotOf(bytes));
                expected = { snapshot: [...bytes], updates: [] };
              } else if (kind === 'reopen') open = await place.open();
              const { snapshot, updates } = told(await open.load());
              expect({ snapshot: snapshot?.state, updates }).toEqual({ snapshot: undefined, ...expected });
            }
          } finally {
            await place.discard();
          }
        }),
        { numRuns: 100 },
      );
    }, 120_000);
  });
}

const step = fc.record({
  kind: fc.constantFrom('append', 'append', 'append', 'compact', 'load', 'reopen'),
  bytes: fc.uint8Array({ maxLength: 12 }),
});
