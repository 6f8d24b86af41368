import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SpawnedCompiler } from '../../tools/tsc/spawned-compiler.ts';

const NODE = basename(process.execPath);

/** A process that reads nothing until it is ended. */
async function started(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  return child;
}

const errorOf = (child: ChildProcess): Promise<Error | undefined> =>
  new Promise((resolve) => child.stdin?.write(Buffer.from('{}'), (error) => resolve(error ?? undefined)));

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

describe('A process that the client of the compiler writes to', () => {
  it('fails each write after its end to whoever has not seen it start', async () => {
    using _other = new SpawnedCompiler('another-program');
    const child = await started();
    child.stdin?.on('error', () => undefined);
    child.stdin?.end();
    expect(await errorOf(child)).toMatchObject({ code: 'ERR_STREAM_WRITE_AFTER_END' });
    await ended(child);
  });

  it('takes what is written after its end, or when it is given up, and has it go nowhere', async () => {
    using spawned = new SpawnedCompiler(NODE);
    const [closed, givenUp] = [await started(), await started()];
    expect(await errorOf(closed)).toBeUndefined();
    closed.stdin?.end();
    expect(await errorOf(closed)).toBeUndefined();
    spawned.drop();
    await ended(givenUp);
    expect(await errorOf(givenUp)).toBeUndefined();
    await ended(closed);
    expect(await errorOf(closed)).toBeUndefined();
  });
});
