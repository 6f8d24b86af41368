import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MemoryWatch } from '../../tools/memory-watch.ts';

describe('the memory that a compiler takes', () => {
  it('is bounded: the process is ended, and whoever waits for it is told', async () => {
    const child = spawn('sleep', ['60']);
    let isTold = false;
    using _watch = new MemoryWatch({ program: 'sleep', maxMb: 0.1, lookEveryMs: 20 }, () => {
      isTold = true;
    });
    const [, signal] = await once(child, 'exit');
    expect({ signal, isTold }).toEqual({ signal: 'SIGKILL', isTold: true });
  });

  it('is looked at in processes of that name alone', async () => {
    const child = spawn('sleep', ['1']);
    using _watch = new MemoryWatch({ program: 'tsgolint', maxMb: 0.1, lookEveryMs: 20 }, () => undefined);
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  });
});
