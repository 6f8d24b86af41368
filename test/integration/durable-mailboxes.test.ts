import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forward } from '../fixtures/agents/booking.ts';
import { times } from '../fixtures/effort.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/durable-host.ts', import.meta.url));
const KILLS = times(4, 12);
const SEED = 20_261_122;

let folder: string;
let journal: string;
let books: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-durable-'));
  journal = join(folder, 'journal.db');
  books = join(folder, 'books');
  writeFileSync(books, '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Drained {
  readonly dead: { readonly to: string; readonly code: string; readonly payload?: { readonly n?: number } }[];
  readonly conservation: { readonly holds: boolean; readonly inFlight: number };
}

/** One process of the system. `kept` is what it said last to be kept. */
class Host {
  kept = 0;
  printed = '';
  errors = '';
  readonly gone: Promise<unknown>;
  readonly #child;

  constructor(...order: (string | number)[]) {
    const words = [...CONDITIONS, HOST, journal, books, ...order.map(String)];
    this.#child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.gone = once(this.#child, 'close');
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.printed += text;
      for (const [, kept] of this.printed.matchAll(/^kept (\d+)$/gm)) this.kept = Number(kept);
    });
  }

  /** Resolves when something is kept, or the process is gone. */
  async keeps(): Promise<void> {
    while (this.kept === 0) await Promise.race([once(this.#child.stdout, 'data'), this.gone]);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.gone;
  }

  async drained(): Promise<Drained> {
    await this.gone;
    const line = this.printed.trim().split('\n').at(-1) ?? '';
    if (!line.startsWith('{')) throw new Error(`It ended without a word: ${this.errors}`);
    return JSON.parse(line) as Drained;
  }
}

/** How often each number stands in the books of an agent. */
function entries(agent: string): Map<number, number> {
  const counts = new Map<number, number>();
  for (const line of readFileSync(books, 'utf8').split('\n')) {
    const [who, n] = line.split(' ');
    if (who === agent) counts.set(Number(n), (counts.get(Number(n)) ?? 0) + 1);
  }
  return counts;
}

describe('Durable mailboxes (F-01)', () => {
  it(`lose nothing that was kept, and start nothing twice for once, over ${KILLS} kills of the process`, async () => {
    const random = seededRandom(SEED);
    const dead: Drained['dead'][number][] = [];
    let from = 0;
    const kept = new Set<number>();
    for (let round = 0; round < KILLS; round++) {
      const whom = round % 2 === 0 ? 'forwarder' : 'everybody';
      const host = new Host('send', from, 500, round % 4 === 3 ? 0 : 1, whom);
      await host.keeps();
      await new Promise((resolve) => setTimeout(resolve, random() * times(60, 150)));
      await host.kill();
      for (let n = from; n < host.kept; n++) {
        if (whom === 'everybody') kept.add(2 * n);
        kept.add(2 * n + 1);
      }
      from += 500;
    }
    const last = await new Host('drain').drained();
    dead.push(...last.dead);
    expect(last.conservation).toMatchObject({ holds: true, inFlight: 0 });
    const once_ = entries('once-books');
    const retried = entries('retry-books');
    expect(kept.size).toBeGreaterThan(KILLS);
    expect([...once_.values()].filter((count) => count > 1)).toEqual([]);
    for (const number of kept) {
      expect(retried.get(number), `${number} at retry-books`).toBeGreaterThan(0);
      const isTold = dead.some(({ to, payload }) => to === 'once-books' && payload?.n === number);
      expect(once_.has(number) || isTold, `${number} at once-books`).toBe(true);
    }
  }, 120_000);

  it('give up an envelope that ends the process each time, and go on with the others', async () => {
    for (let tries = 0; tries < 3; tries++) {
      const host = tries === 0 ? new Host('poison', 'retry-books', 0, 0) : new Host('drain');
      await host.gone;
    }
    const { dead } = await new Host('drain').drained();
    expect(dead).toMatchObject([{ to: 'retry-books', code: 'POISON' }]);
    expect(readFileSync(books, 'utf8')).toBe('retry-books kills\n'.repeat(3));
  });

  it('tell of an envelope for once that ended the process, and do not try it again', async () => {
    await new Host('poison', 'once-books', 0, 0).gone;
    const { dead } = await new Host('drain').drained();
    expect(dead).toMatchObject([{ to: 'once-books', code: 'ACTOR_DIED' }]);
    expect(readFileSync(books, 'utf8')).toBe('once-books kills\n');
  });

  it.each([
    ['at most 31 that waited behind, where handlers are quick', 300, 0, 31],
    ['nothing that waited behind, where handlers take a millisecond', 30, 1, 0],
  ])('tell with it of %s', async (_, around, ms, most) => {
    await new Host('poison', 'once-books', around, ms).gone;
    const { dead } = await new Host('drain').drained();
    const told = new Set(dead.map(({ payload }) => payload?.n));
    const booked = entries('once-books');
    const numbers = Array.from({ length: 2 * around + 1 }, (_, n) => n).filter((n) => n !== around);
    expect(told.has(undefined)).toBe(true);
    expect([...booked.values()].filter((count) => count > 1)).toEqual([]);
    expect(numbers.filter((n) => !booked.has(n) && !told.has(n))).toEqual([]);
    expect(numbers.filter((n) => !booked.has(n)).length).toBeLessThanOrEqual(most);
  });

  it('keep for the next process what waits when a system is stopped', async () => {
    const { conservation } = await new Host('send', 0, 60, 20, 'everybody').drained();
    expect(conservation.inFlight).toBeGreaterThan(0);
    expect(entries('retry-books').size).toBeLessThan(120);
    expect(entries('once-books').size).toBeLessThan(120);
    await new Host('drain').drained();
    expect(entries('retry-books').size).toBe(120);
    expect(entries('once-books').size).toBe(120);
  });

  it('keep what they keep when threads die too, and leave nothing behind that was handled', async () => {
    const system = await startSystem({
      journal: { path: journal },
      agents: [agent('once-books'), agent('forwarder'), agent('retry-books')],
      supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 1 } },
    });
    const sent = 200;
    try {
      for (let n = 0; n < sent; n++) {
        const entry = { n, file: books, ms: 0 };
        await system.tellWhenRoom({ agent: 'forwarder', capability: forward as never }, entry);
        if (n % 50 === 25) await system.terminate(n % 100 === 25 ? 'worker-1' : 'worker-2');
      }
      await until('nothing is in flight', async () => (await system.conservation()).inFlight === 0);
      await system.whenKept();
      const dead = (await system.deadLetters()).map(
        ({ envelope }) => (envelope?.payload as { n: number } | undefined)?.n,
      );
      const [booked, retried] = [entries('once-books'), entries('retry-books')];
      expect([...booked.values()].filter((count) => count > 1)).toEqual([]);
      const numbers = Array.from({ length: sent }, (_, n) => n);
      expect(numbers.filter((n) => !booked.has(n) && !dead.includes(n))).toEqual([]);
      expect(numbers.filter((n) => !retried.has(n))).toEqual([]);
    } finally {
      await system.stop();
    }
    const before = entries('once-books');
    await new Host('drain').drained();
    for (const [n, count] of entries('once-books'))
      expect(count, `${n} at once-books, after a restart`).toBeLessThanOrEqual(
        Math.max(1, before.get(n) ?? 0),
      );
  });
});

describe('What an embedder keeps', () => {
  it('is there in the next system, apart from what the runtime keeps', async () => {
    const first = await startSystem({ journal: { path: journal } });
    await Promise.all([
      first.records.put('mission', 'b', { n: [1, null, 'ä'] }),
      first.records.put('mission', 'a', 'text'),
      first.records.put('other', 'a', 0),
      first.records.put('taken', 'mars\nvenus\nm~1', 'mine'),
    ]);
    await first.records.put('mission', 'gone', true);
    await first.records.put('mission', 'gone', undefined);
    await first.stop();
    const second = await startSystem({ journal: { path: journal } });
    expect(await second.records.list('mission')).toEqual([
      { key: 'a', value: 'text' },
      { key: 'b', value: { n: [1, null, 'ä'] } },
    ]);
    expect(await second.records.list('nothing')).toEqual([]);
    const refused = await rejection(second.records.put('mission', 'a', { at: 1n }));
    expect(refused).toMatchObject({ code: 'NOT_SERIALISABLE', message: expect.stringContaining('at') });
    expect((await rejection(second.records.put('', 'a', 1))).message).toContain('kind');
    await second.stop();
    expect((await rejection(second.records.list('mission'))).code).toBe('SYSTEM_STOPPED');
  });

  it('needs a journal', async () => {
    const system = await startSystem();
    expect(await rejection(system.records.put('mission', 'a', 1))).toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('journal'),
    });
    await system.whenKept();
    await system.stop();
  });
});

describe('A journal that cannot be used', () => {
  it.each([
    ['no path', { path: '' }, 'INVALID_OPTIONS', /journal\.path/],
    ['whom it does not know', { path: 'j', durable: 'some' }, 'INVALID_OPTIONS', /journal\.durable/],
    ['a field of its own', { path: 'j', size: 1 }, 'INVALID_OPTIONS', /size/],
  ])('fails the start: %s', async (_, options, code, says) => {
    const refused = await rejection(startSystem({ journal: options as never }));
    expect(refused).toMatchObject({ code, message: expect.stringMatching(says) });
  });

  it('fails the start, naming the file, and leaves the file as it is', async () => {
    writeFileSync(journal, 'a text of mine, which is long enough to be more than a header of a database');
    const refused = await rejection(startSystem({ journal: { path: journal } }));
    expect(refused).toMatchObject({ code: 'STORE_INVALID', message: expect.stringContaining(journal) });
    expect(readFileSync(journal, 'utf8')).toMatch(/^a text of mine/);
    expect((await rejection(startSystem({ journal: { path: folder } }))).code).toMatch(/^STORE_/);
    const nowhere = join(folder, 'nowhere', 'journal.db');
    expect(await rejection(startSystem({ journal: { path: nowhere } }))).toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining(nowhere),
    });
  });

  it('is in use by another system', async () => {
    const system = await startSystem({ journal: { path: journal } });
    try {
      const refused = await rejection(startSystem({ journal: { path: journal } }));
      expect(refused).toMatchObject({ code: 'STORE_IN_USE', message: expect.stringContaining(journal) });
    } finally {
      await system.stop();
    }
    await (await startSystem({ journal: { path: journal } })).stop();
  });
});
