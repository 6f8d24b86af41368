import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { capability, defineAgent, startSystem } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CpuPool, type CpuPoolOptions } from '../../runtime/agent/offload.ts';
import { deadlineExceeded } from '../../runtime/protocol/errors.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';

const fixture = (name: string): URL => new URL(`../fixtures/offload/${name}.ts`, import.meta.url);
const double = fixture('double');
const behave = fixture('behave');
const counts = fixture('counts');

/** The threads of this process, whoever started them. */
const threadCount = (): number => (process.report.getReport() as { workers: unknown[] }).workers.length;

const pools: CpuPool[] = [];
function newPool(options?: CpuPoolOptions): CpuPool {
  const pool = new CpuPool({ seams: systemSeams() }, options);
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** A loop that says through shared memory that it has begun. */
function loop(pool: CpuPool, signal?: AbortSignal) {
  const beat = new Int32Array(new SharedArrayBuffer(4));
  const run = pool.run(behave, { kind: 'loop', beat }, { signal }).catch((error: unknown) => error);
  const hasBegun = async (): Promise<void> => {
    while (Atomics.load(beat, 0) === 0) await new Promise(setImmediate);
  };
  return { run, hasBegun };
}

describe('the CPU pool', () => {
  it('has no thread until it is used', async () => {
    const before = threadCount();
    const pool = newPool();
    expect(threadCount()).toBe(before);
    expect(await pool.run<number>(double, { value: 21 })).toBe(42);
    expect(threadCount()).toBe(before + 1);
  });

  it('carries what structured clone can', async () => {
    const value = new Map([['at', new Date(0)]]);
    expect(await newPool().run(behave, { kind: 'echo', value })).toEqual(value);
  });

  it('rejects with what the task throws, name and code included', async () => {
    const pool = newPool();
    const thrown = pool.run(behave, { kind: 'throw', name: 'RangeError', code: 'E_SUM' });
    await expect(thrown).rejects.toMatchObject({
      name: 'RangeError',
      message: 'the sum is wrong',
      code: 'E_SUM',
    });
    await expect(
      pool.run(behave, { kind: 'throw', name: 'OrreryError', code: 'REFUSED' }),
    ).rejects.toMatchObject({
      name: 'OrreryError',
      code: 'REFUSED',
      details: {},
    });
    await expect(pool.run(behave, { kind: 'throw-text' })).rejects.toThrow('just words');
  });

  it.each([
    ['does not exist', 'nowhere', /does not load: Cannot find module/],
    ['breaks while loading', 'breaks', /does not load: it broke while loading/],
    ['has no default function', 'no-default', /its default export is not a function/],
  ])('rejects with MODULE_INVALID when the module %s', async (_, name, message) => {
    const failing = newPool().run(fixture(name), {});
    await expect(failing).rejects.toMatchObject({
      code: 'MODULE_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('rejects with NOT_SERIALISABLE what cannot be cloned, on the way there and back', async () => {
    const pool = newPool();
    const there = pool.run(behave, { kind: 'echo', value: () => undefined });
    await expect(there).rejects.toMatchObject({ code: 'NOT_SERIALISABLE' });
    await expect(pool.run(behave, { kind: 'return-function' })).rejects.toMatchObject({
      code: 'NOT_SERIALISABLE',
    });
  });

  it('survives a task that ends its thread', async () => {
    const pool = newPool();
    const ended = pool.run(behave, { kind: 'exit' });
    await expect(ended).rejects.toMatchObject({
      code: 'THREAD_DIED',
      message: expect.stringContaining('code: 3'),
    });
    expect(await pool.run(double, { value: 1 })).toBe(2);
  });

  it('ends an endless loop within a second of the abort, and runs what waited behind it', async () => {
    const pool = newPool();
    const impatient = new AbortController();
    const askedAt = performance.now();
    const { run, hasBegun } = loop(pool, impatient.signal);
    const behind = pool.run<number>(double, { value: 3 });
    await hasBegun();
    const abortedAt = performance.now();
    // What waits begins in another thread.
    const startMs = abortedAt - askedAt;
    impatient.abort();
    expect(await run).toMatchObject({ code: 'CANCELLED' });
    expect(await behind).toBe(6);
    expect(performance.now() - abortedAt).toBeLessThan(1_000 + startMs);
  });

  it('rejects with the reason of the abort if that is an error of ours', async () => {
    const reason = deadlineExceeded('the envelope', 5);
    await expect(newPool().run(double, { value: 1 }, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });

  it('takes a task that is aborted while it waits out of the line', async () => {
    const pool = newPool();
    const stop = new AbortController();
    const impatient = new AbortController();
    const first = loop(pool, stop.signal);
    const waiting = pool.run(double, { value: 1 }, { signal: impatient.signal });
    impatient.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    await first.hasBegun();
    stop.abort();
    await first.run;
  });

  it('runs so many tasks at once as it may have threads', async () => {
    const pool = newPool({ maxThreads: 2 });
    const stop = new AbortController();
    const loops = [loop(pool, stop.signal), loop(pool, stop.signal)];
    await Promise.all(loops.map(({ hasBegun }) => hasBegun()));
    stop.abort();
    await Promise.all(loops.map(({ run }) => run));
  });

  it('lets an idle thread go', async () => {
    const before = threadCount();
    const pool = newPool({ idleTimeoutMs: 10 });
    await pool.run(double, { value: 1 });
    await expect.poll(threadCount, { timeout: 100_000 }).toBe(before);
  });

  it('keeps what a task has loaded for the next one that says so, whatever becomes of other threads', async () => {
    const before = threadCount();
    const pool = newPool({ idleTimeoutMs: 10 });
    const count = () => pool.run<number>(counts, {}, { keepsLoaded: true });
    expect(await count()).toBe(1);
    expect(await pool.run<number>(counts, {})).toBe(1);
    await expect.poll(threadCount, { timeout: 100_000 }).toBe(before + 1);
    const stop = new AbortController();
    const { run, hasBegun } = loop(pool, stop.signal);
    await hasBegun();
    stop.abort();
    await run;
    expect(await count()).toBe(2);
    expect(await pool.close()).toBe(0);
    expect(threadCount()).toBe(before);
  });

  it('lets what was loaded go when nobody has wanted it for long', async () => {
    const before = threadCount();
    const pool = newPool({ loadedTimeoutMs: 10 });
    await pool.run(counts, {}, { keepsLoaded: true });
    await expect.poll(threadCount, { timeout: 100_000 }).toBe(before);
  });

  it('has an agent say so', async () => {
    const before = threadCount();
    const about = { description: 'Counts', input: z.boolean(), output: z.number() };
    const tally = capability({ id: 'tally', ...about });
    const counting = {
      id: 'counting',
      name: 'COUNTING',
      version: '1.0.0',
      description: 'Counts',
      tier: 3,
    } as const;
    const agent = defineAgent(counting).handle(tally, (keepsLoaded, ctx) =>
      ctx.offload<object, number>(counts, {}, { keepsLoaded }),
    );
    await using system = await startSystem({
      agents: [agent],
      workers: 1,
      spareThread: false,
      cpu: { idleTimeoutMs: 10 },
    });
    const team = threadCount();
    expect(await system.ask(tally, true)).toBe(1);
    expect(await system.ask(tally, false)).toBe(1);
    await expect.poll(threadCount, { timeout: 100_000 }).toBe(team + 1);
    expect(await system.ask(tally, true)).toBe(2);
    await system.stop();
    expect(threadCount()).toBe(before);
  });

  it('leaves no thread when it closes: not of a loop, an aborted one, a waiting task or one about to start', async () => {
    const before = threadCount();
    const pool = newPool();
    const stop = new AbortController();
    const aborted = loop(pool, stop.signal);
    await aborted.hasBegun();
    stop.abort();
    const looping = loop(pool);
    const waiting = pool.run(double, { value: 1 }).catch((error: unknown) => error);
    await looping.hasBegun();
    const starting = newPool();
    const begun = starting.run(double, { value: 1 }).catch((error: unknown) => error);
    expect(await Promise.all([pool.close(), starting.close()])).toEqual([0, 0]);
    expect(threadCount()).toBe(before);
    for (const error of [await looping.run, await waiting, await begun]) {
      expect(error).toMatchObject({ code: 'SYSTEM_STOPPED' });
    }
    await expect(pool.run(double, { value: 1 })).rejects.toMatchObject({ code: 'SYSTEM_STOPPED' });
    expect(await pool.close()).toBe(0);
  });

  it('works from inside a worker thread', async () => {
    const worker = new Worker(new URL('../fixtures/offload/in-worker.worker.ts', import.meta.url));
    const ended = once(worker, 'exit');
    expect(await once(worker, 'message')).toEqual([8]);
    expect(await ended).toEqual([0]);
  });

  it('rejects, and does not wait for ever, when a thread of its cannot start', async () => {
    const worker = new Worker(new URL('../fixtures/offload/broken-start.worker.ts', import.meta.url), {
      execArgv: ['--import', fixture('preload').href],
    });
    const [outcome] = await once(worker, 'message');
    expect(outcome).toEqual({
      failed: { code: 'THREAD_DIED', message: expect.stringContaining('the preload is broken') },
      doubled: 8,
    });
  });

  it('refuses options of a task that are none', async () => {
    const run = newPool().run(double, { value: 1 }, { keepsLoaded: 'yes' } as never);
    await expect(run).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('options.keepsLoaded is "yes"'),
    });
  });

  it.each([{ maxThreads: 0 }, { maxOldGenerationSizeMb: 1 }, { loadedTimeoutMs: 2 ** 31 }])(
    'refuses the options %j',
    (options) => {
      expect(() => newPool(options)).toThrow(/cpuPool/);
    },
  );
});
