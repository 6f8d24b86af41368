import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/one-core-host.ts', import.meta.url));
const TIMES = 3_000;
const SUM = TIMES * (TIMES - 1);

describe('A system that has one core only, where threads sleep while they wait for an answer', () => {
  it('answers every ask, lets timers fire and others answer meanwhile, and ends who loops', async () => {
    const words = ['-c', '0', process.execPath, ...CONDITIONS, HOST, String(TIMES)];
    const { stdout } = await promisify(execFile)('taskset', words, { timeout: 100_000 });
    expect(JSON.parse(stdout)).toEqual({
      cores: 1,
      places: ['answers worker-1', 'asker worker-2', 'looper worker-1', 'patient worker-2'],
      waited: 20,
      sums: [SUM, SUM],
      looped: 'ACTOR_DIED',
    });
  });
});
