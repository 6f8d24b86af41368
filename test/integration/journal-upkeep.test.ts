import { copyFileSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import type { StoreBatch } from '../../runtime/protocol/store.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';
import { contentOf, sizeOf, told } from '../fixtures/store-script.ts';

const MIB = 1_024 * 1_024;

const folder = mkdtempSync(join(tmpdir(), 'orrery-upkeep-'));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
let path: string;
let clock: FakeClock;
beforeEach(() => {
  path = join(folder, `journal-${++count}`);
  clock = new FakeClock();
});

const mailsOf = (many: number, characters = 500): StoreBatch => ({
  mails: Array.from({ length: many }, () => ({ recipient: 'ada', body: 'x'.repeat(characters) })),
  settled: [],
  records: [],
});

const settling = (first: number, many: number): StoreBatch => ({
  mails: [],
  settled: Array.from({ length: many }, (_, at) => first + at),
  records: [],
});

describe('The files of a store', () => {
  const LIMITS = { walBytes: MIB, freeBytes: 2 * MIB };

  it('shrink again after a flood that is settled, when it is quiet', async () => {
    const store = SqliteStore.open({ path, ...LIMITS }, { clock });
    for (let at = 0; at < 40; at++) await store.write([mailsOf(1_000)]);
    clock.advance(5_000);
    expect(sizeOf(path)).toBeGreaterThan(20 * MIB);
    for (let at = 0; at < 40; at++) await store.write([settling(1 + at * 1_000, 1_000)]);
    expect(sizeOf(path)).toBeGreaterThan(20 * MIB);
    clock.advance(5_000);
    expect(sizeOf(path)).toBeLessThan(3 * MIB);
    expect(sizeOf(`${path}-wal`)).toBeLessThan(3 * MIB);
    expect(await store.mails({ limit: 1 })).toEqual([]);
    expect(await store.write([mailsOf(1)])).toEqual([40_001]);
    await store.close();
  });

  it('shrink in steps, so that writes come in between', async () => {
    const store = SqliteStore.open({ path, ...LIMITS }, { clock });
    for (let at = 0; at < 80; at++) await store.write([mailsOf(1_000)]);
    for (let at = 0; at < 80; at++) await store.write([settling(1 + at * 1_000, 1_000)]);
    const sizes = new Set<number>();
    let steps = 0;
    for (; clock.nextInMs !== undefined && steps < 100; steps++) {
      clock.advance(clock.nextInMs);
      sizes.add(sizeOf(path));
      await store.write([mailsOf(1)]);
    }
    const shrunk = [...sizes];
    for (let at = 1; at < shrunk.length; at++) {
      expect((shrunk[at - 1] as number) - (shrunk[at] as number)).toBeLessThan(12 * MIB);
    }
    expect(shrunk.length).toBeGreaterThan(3);
    expect(sizeOf(path)).toBeLessThan(3 * MIB);
    await store.close();
  });

  it('keep room for what comes next, and stay as they are under a steady load', async () => {
    const store = SqliteStore.open({ path, ...LIMITS }, { clock });
    let largest = 0;
    let largestLog = 0;
    for (let at = 0; at < 600; at++) {
      const [first] = (await store.write([mailsOf(100), { ...mailsOf(0), records: [record(at)] }])) as [
        number,
      ];
      await store.write([settling(first, 100)]);
      clock.advance(10);
      largest = Math.max(largest, sizeOf(path));
      largestLog = Math.max(largestLog, sizeOf(`${path}-wal`));
    }
    expect(largest).toBeLessThan(4 * MIB);
    expect(largestLog).toBeLessThan(3 * MIB);
    await store.close();
  });

  const record = (at: number) => ({
    kind: 'state',
    key: `key-${at % 30}`,
    value: `${at} ${'y'.repeat(3_000)}`,
  });

  it('do not let the log grow when changes are scattered', async () => {
    const store = SqliteStore.open({ path, ...LIMITS }, { clock });
    for (let at = 0; at < 20; at++) await store.write([mailsOf(1_000)]);
    let largestLog = 0;
    for (let at = 1; at <= 20_000; at += 400) {
      const settled = Array.from({ length: 40 }, (_, nth) => ((at * 7 + nth * 487) % 20_000) + 1);
      await store.write([{ mails: [], settled, records: [] }]);
      largestLog = Math.max(largestLog, sizeOf(`${path}-wal`));
    }
    expect(largestLog).toBeLessThan(4 * MIB);
    await store.close();
  });

  it('are one file when it is closed', async () => {
    const store = SqliteStore.open({ path }, { clock });
    await store.write([mailsOf(10)]);
    await store.close();
    expect(sizeOf(`${path}-wal`)).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('need nothing of the log after a checkpoint: it may be cut off anywhere', async () => {
    const store = SqliteStore.open({ path, walBytes: 65_536 }, { clock });
    let checkpoints = 0;
    for (let at = 0; checkpoints < 4; at++) {
      const [first = 1] = await store.write([mailsOf(20)]);
      await store.write([{ ...settling(first - 5, 15), records: [record(at)] }]);
      const before = sizeOf(path);
      clock.advance(1_000);
      if (sizeOf(path) === before) continue;
      checkpoints += 1;
      const content = told(await contentOf(store));
      for (let cut = 0; cut <= sizeOf(`${path}-wal`); cut += 9_000) {
        const copy = `${path}-copy`;
        copyFileSync(path, copy);
        copyFileSync(`${path}-wal`, `${copy}-wal`);
        copyFileSync(`${path}-mark`, `${copy}-mark`);
        truncateSync(`${copy}-wal`, cut);
        const again = SqliteStore.open({ path: copy });
        expect(told(await contentOf(again)), `byte ${cut}, after write ${at}`).toEqual(content);
        await again.close();
      }
    }
    await store.close();
  });
});

describe('A store with a hundred thousand waiting envelopes', () => {
  it('is opened and read in pages, in bounded memory', async () => {
    const store = SqliteStore.open({ path });
    for (let at = 0; at < 100; at++) await store.write([mailsOf(1_000, 480)]);
    await store.close();
    const { mails, growthMb, ms } = await resultOf<{ mails: number; growthMb: number; ms: number }>(
      runFixture('read-store', [path]),
    );
    expect(mails).toBe(100_000);
    // All of them are 48 MB of bodies alone.
    expect(growthMb).toBeLessThan(10);
    console.info(`${mails} mails read in ${ms} ms, ${growthMb.toFixed(1)} MB kept at most`);
  });
});
