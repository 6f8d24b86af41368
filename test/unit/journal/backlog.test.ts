import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Backlog } from '../../../runtime/journal/backlog.ts';
import { MemoryStore } from '../../../runtime/journal/memory-store.ts';
import { ringFiles, StartedRing } from '../../../runtime/journal/started-ring.ts';

/** Of the thread that takes what is left. */
const INCARNATION = 1;
const NEXT_SEAT = 2;

let folder: string;
let journal: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-backlog-'));
  journal = join(folder, 'journal.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Mails for these recipients, one after the other; their bodies say which they are. */
async function storeOf(...recipients: string[]): Promise<MemoryStore> {
  return filled(new MemoryStore(), recipients);
}

async function filled(store: MemoryStore, recipients: readonly string[]): Promise<MemoryStore> {
  const mails = recipients.map((recipient, at) => ({ recipient, body: `${recipient} ${at}` }));
  await store.write([{ mails, settled: [], records: [] }]);
  return store;
}

/** What a thread that sat in `incarnation` has begun on. */
function begin(incarnation: number, numbers: readonly number[]): void {
  const ring = new StartedRing(journal, incarnation);
  ring.note(numbers);
  ring.close();
}

const numbersOf = async (store: MemoryStore): Promise<number[]> =>
  (await store.mails({ limit: 10_000 })).map(({ number }) => number);

describe('What former processes have left', () => {
  it('is given to each agent in its order, a page at a time, and only once', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => (at % 3 === 0 ? 'mars' : 'venus'));
    const backlog = await Backlog.open(await storeOf(...many), journal);
    const expected = many.flatMap((recipient, at) => (recipient === 'mars' ? [`mars ${at}`] : []));
    expect(backlog.count('mars', INCARNATION)).toBe(expected.length);
    const bodies: string[] = [];
    for (
      let page = await backlog.take('mars', 300, INCARNATION);
      page.length > 0;
      page = await backlog.take('mars', 300, INCARNATION)
    ) {
      expect(page.length).toBeLessThanOrEqual(300);
      bodies.push(...page.map(({ body }) => body));
    }
    expect(bodies).toEqual(expected);
    expect([backlog.count('mars', INCARNATION), await backlog.take('mars', 1, INCARNATION)]).toEqual([0, []]);
    expect(backlog.count('pluto', INCARNATION)).toBe(0);
  });

  it('is given to the next thread when the one dies that was given it, less what outlives that (F-01)', async () => {
    const store = await storeOf('mars', 'mars', 'mars', 'mars', 'mars');
    const [first, second, third, fourth, fifth] = (await numbersOf(store)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const backlog = await Backlog.open(store, journal);
    const taken = async (limit: number, incarnation: number) =>
      (await backlog.take('mars', limit, incarnation)).map(({ number }) => number);
    expect(await taken(3, INCARNATION)).toEqual([first, second, third]);
    expect(backlog.count('mars', INCARNATION)).toBe(2);
    backlog.held('mars', [second, 99]);
    backlog.held('venus', [first]);
    expect(backlog.count('mars', NEXT_SEAT)).toBe(4);
    expect(await taken(2, NEXT_SEAT)).toEqual([first, third]);
    backlog.held('mars', [third, first]);
    // The third thread has those from the second one.
    expect(await taken(9, NEXT_SEAT + 1)).toEqual([fourth, fifth]);
    backlog.forget('mars');
    expect(await taken(9, NEXT_SEAT + 2)).toEqual([]);
  });

  it('says how many processes have ended over each, whichever thread it was in', async () => {
    const store = await storeOf('mars', 'mars', 'mars', 'mars');
    const [first, second, third, fourth] = (await numbersOf(store)) as [number, number, number, number];
    begin(1, [first, second]);
    begin(7, [third]);
    await store.write([{ mails: [], settled: [third], records: [] }]);
    const once = await Backlog.open(store, journal);
    const starts = async (backlog: Backlog) =>
      (await backlog.take('mars', 10, INCARNATION)).map(({ number, starts }) => [number, starts]);
    expect(await starts(once)).toEqual([
      [first, 1],
      [second, 1],
      [fourth, 0],
    ]);
    begin(1, [second]);
    expect(await starts(await Backlog.open(store, journal))).toEqual([
      [first, 1],
      [second, 2],
      [fourth, 0],
    ]);
  });

  it('has what had been begun on in the store before the files that say so are gone', async () => {
    let isFull = false;
    const beforeWrite = (): void => {
      if (isFull) throw new Error('the disk is full');
    };
    const store = await filled(new MemoryStore({ beforeWrite }), ['mars']);
    begin(3, await numbersOf(store));
    isFull = true;
    await expect(Backlog.open(store, journal)).rejects.toThrow('the disk is full');
    expect(readdirSync(folder)).toEqual(['journal.db-started-3', 'journal.db-started-3-other']);
    isFull = false;
    const backlog = await Backlog.open(store, journal);
    expect(readdirSync(folder)).toEqual([]);
    expect(await backlog.take('mars', 1, INCARNATION)).toMatchObject([{ starts: 1 }]);
  });

  it('forgets how often something was begun on once it is settled', async () => {
    const store = await storeOf('mars');
    const numbers = await numbersOf(store);
    begin(1, numbers);
    await Backlog.open(store, journal);
    expect(await store.records('starts', { limit: 10 })).toHaveLength(1);
    await store.write([{ mails: [], settled: numbers, records: [] }]);
    await Backlog.open(store, journal);
    expect(await store.records('starts', { limit: 10 })).toEqual([]);
  });
});

describe('The ring of what a thread has begun on', () => {
  const BASE = 2 ** 40; // Above what 32 bits hold.

  const noteEach = (ring: StartedRing, from: number, to: number): void => {
    for (let n = from; n <= to; n++) ring.note([BASE + n]);
  };

  it('keeps what is open, however many others are begun on meanwhile', () => {
    const open = [BASE + 1, BASE + 70];
    const ring = new StartedRing(journal, 1, () => open);
    ring.note([BASE + 1, BASE + 2]);
    noteEach(ring, 3, 50_000);
    const started = ringFiles.read(journal);
    expect([1, 70, 50_000].map((n) => started.has(BASE + n))).toEqual([true, true, true]);
    expect(started.size).toBeLessThan(20_000);
    ring.close();
  });

  it('takes as much as is open, and is small again afterwards', () => {
    let open: number[] = [];
    const ring = new StartedRing(journal, 1, () => open);
    noteEach(ring, 1, 8_000);
    open = Array.from({ length: 30_000 }, (_, n) => BASE + n + 1);
    noteEach(ring, 8_001, 9_000);
    expect(ringFiles.read(journal).size).toBe(30_000);
    open = [BASE + 5];
    noteEach(ring, 30_001, 100_000);
    const started = ringFiles.read(journal);
    expect([started.has(BASE + 5), started.has(BASE + 6), started.has(BASE + 100_000)]).toEqual([
      true,
      false,
      true,
    ]);
    ring.close();
  });

  it('forgets what is retracted, and not what is begun on after that', () => {
    const ring = new StartedRing(journal, 1);
    ring.note([1, 2, 3, 4]);
    ring.retract([2, 4]);
    ring.note([4]);
    expect([...ringFiles.read(journal)]).toEqual([1, 3, 4]);
    ring.close();
  });

  it('forgets it too when there is no room left in the file in between', () => {
    const ring = new StartedRing(journal, 1, () => []);
    noteEach(ring, 1, 8_190);
    ring.note([BASE + 8_191]);
    ring.retract([BASE + 8_191, BASE + 8_190]);
    const started = ringFiles.read(journal);
    expect([8_189, 8_190, 8_191].map((n) => started.has(BASE + n))).toEqual([true, false, false]);
    ring.close();
  });

  it('says the same of a mail that two threads begin on, whoever of them retracts it', () => {
    const rings = [1, 2].map((incarnation) => new StartedRing(journal, incarnation));
    for (const ring of rings) ring.note([7]);
    rings[1]?.retract([7]);
    expect([...ringFiles.read(journal)]).toEqual([7]);
    for (const ring of rings) ring.close();
  });
});
