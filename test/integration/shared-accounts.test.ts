import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { newAccountMemory } from '../../runtime/budget/account-memory.ts';
import { Accounts } from '../../runtime/budget/accounts.ts';
import { LostAccounts } from '../../runtime/control/lost-accounts.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const THREADS = 4;
const STEPS = 10_000;
const TOKENS = 100_000;
const MICROS = 100_000;

interface Result {
  readonly net: { readonly tokens: number; readonly micros: number };
  readonly refused: number;
}

const start = (memory: SharedArrayBuffer, incarnation: number, top: number, steps: number): Worker =>
  new Worker(new URL('../fixtures/account-hammer.worker.ts', import.meta.url), {
    workerData: { memory, incarnation, top, steps },
  });

async function hammer(memory: SharedArrayBuffer, incarnation: number, top: number): Promise<Result> {
  const worker = start(memory, incarnation, top, STEPS);
  await once(worker, 'message');
  const [result] = (await once(worker, 'message')) as [Result];
  return result;
}

describe('Accounts that several threads use at the same moment (F-04)', () => {
  it.each([
    ['with room for all', TOKENS, MICROS],
    ['short of both amounts', 100, 100],
    ['short of one of them', TOKENS, 60],
  ])('lose nothing and give nothing twice, %s', async (_, tokens, micros) => {
    const memory = newAccountMemory(12);
    const accounts = new Accounts(memory, 0);
    const top = accounts.open(undefined, { tokens, micros }) as number;
    const results = await Promise.all(
      Array.from({ length: THREADS }, (_, at) => hammer(memory, at + 1, top)),
    );
    const spent = { tokens: 0, micros: 0 };
    for (const { net } of results) {
      spent.tokens += net.tokens;
      spent.micros += net.micros;
    }
    expect(accounts.left(top)).toEqual({
      tokens: tokens - spent.tokens,
      costUsd: (micros - spent.micros) / 1e6,
    });
    expect(accounts.spent(top)).toEqual({ tokens: spent.tokens, costUsd: spent.micros / 1e6 });
    expect(spent.tokens).toBeGreaterThan(0);
    expect(accounts.size).toBe(1);
    accounts.close(top);
    expect(accounts.size).toBe(0);
  });
});

describe('A thread that is killed while it uses accounts (F-04)', () => {
  it('takes along at most what it was moving, and what it had opened is found and closed', async () => {
    for (let kill = 0; kill < 20; kill++) {
      const memory = newAccountMemory(64);
      const accounts = new Accounts(memory, 0);
      const top = accounts.open(undefined, { tokens: TOKENS, micros: MICROS }) as number;
      const worker = start(memory, 1, top, Number.POSITIVE_INFINITY);
      await once(worker, 'message');
      while (accounts.left(top).tokens === TOKENS) await new Promise((resolve) => setImmediate(resolve));
      await worker.terminate();
      const clock = new FakeClock(0);
      const places = { askAll: async () => [], areUp: true, isClosing: false, size: 0 };
      const lost = new LostAccounts({ accounts, threads: places, clock, kept: () => [] });
      lost.threadDied(1);
      for (let round = 0; round < 4; round++) {
        clock.advance(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(accounts.size).toBe(1);
      const { tokens = 0, costUsd = 0 } = accounts.left(top);
      expect(tokens).toBeLessThanOrEqual(TOKENS);
      expect(costUsd * 1e6).toBeLessThanOrEqual(MICROS);
      accounts.close(top);
      expect(accounts.size).toBe(0);
    }
  });
});
