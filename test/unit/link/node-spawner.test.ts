import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hasProc } from '../../../runtime/os/proc-usage.ts';
import { NodeSpawner } from '../../../runtime/link/node-spawner.ts';
import { until } from '../../fixtures/until.ts';

it('tells of a thread that was gone before anybody asked (F-06)', async () => {
  const spawner = new NodeSpawner(new URL('data:text/javascript,process.exit(3)'));
  const spawned = spawner.spawn('brief', {}, []);
  await new Promise((gone) => spawned.onExit(gone));
  await sleep(1);
  expect(await new Promise((gone) => spawned.onExit(gone))).toBe('it exited (exit code 3)');
});

it('says whose words the reason is: those of an error that nobody caught are the code’s own (F-09)', async () => {
  const endOf = (code: string) =>
    new Promise((gone) =>
      new NodeSpawner(new URL(`data:text/javascript,${code}`))
        .spawn('brief', {}, [])
        .onExit((...end) => gone(end)),
    );
  expect(await endOf('process.exit(3)')).toEqual(['it exited (exit code 3)', false]);
  expect(await endOf("throw new Error('delete it')")).toEqual(['delete it', true]);
});

describe.skipIf(!hasProc())('What the system says of a thread, without asking it', () => {
  const thread = (does: string) =>
    new NodeSpawner(
      new URL(
        `data:text/javascript,import { workerData } from 'node:worker_threads';
        import { readlinkSync } from 'node:fs';
        Atomics.store(workerData.number, 0, Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
        ${does}`,
      ),
    ).spawn('seen', {}, []);

  it('is that one which computes could run, and uses processor time', async () => {
    const spawned = thread('for (;;);');
    await until('it computes', () => (spawned.usage()?.cpuMs ?? 0) > 200);
    expect(spawned.usage()?.isRunnable).toBe(true);
    await spawned.terminate();
  });

  it('is that one which waits could not, and is nothing of one that is gone', async () => {
    const spawned = thread('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
    await until('it waits', () => spawned.usage()?.isRunnable === false);
    await spawned.terminate();
    await until('it is gone', () => spawned.usage() === undefined);
  });
});
