import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../fixtures/effort.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/budget-host.ts', import.meta.url));
const LIVES = times(2, 5);
const TOKENS = 250;
const SEED = 20_261_122;
/** What a purchase costs that was paid and not written down when its process ended; two are in hand at once. */
const LOST = 10;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-budgets-'));
  writeFileSync(join(folder, 'book'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (...order: (string | number)[]): ChildProcess =>
  spawn(
    process.execPath,
    [...CONDITIONS, HOST, join(folder, 'journal.db'), join(folder, 'book'), ...order.map(String)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );

/** What stands in the book of an account: how much was spent, and whether it was ever short. */
function bookOf(account: string): { spent: number; isShort: boolean } {
  const entries = readFileSync(join(folder, 'book'), 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const own = entries.filter(([name]) => name === account).map(([, what]) => what);
  return {
    spent: own.reduce((sum, what) => sum + (what === 'short' ? 0 : Number(what)), 0),
    isShort: own.includes('short'),
  };
}

describe('Accounts of envelopes that are recovered (F-04)', () => {
  it(`are spent to the last and never exceeded, over ${LIVES} kills of the process`, async () => {
    const random = seededRandom(SEED);
    for (let life = 0; life < LIVES; life++) {
      const host = run('buy', `life-${life}`, TOKENS);
      const gone = once(host, 'exit');
      await once(host.stdout as NodeJS.ReadableStream, 'data');
      await new Promise((resolve) => setTimeout(resolve, random() * 120));
      host.kill('SIGKILL');
      await gone;
    }
    await once(run('drain'), 'exit');
    const books = Array.from({ length: LIVES }, (_, life) => bookOf(`life-${life}`));
    for (const { spent } of books) expect(spent).toBeLessThanOrEqual(TOKENS);
    for (const { spent, isShort } of books) {
      expect(isShort).toBe(true);
      expect(spent).toBeGreaterThan(TOKENS - LOST * (LIVES + 1));
    }
  }, 120_000);
});
