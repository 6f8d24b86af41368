import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endStrays } from '../../mutants/strays.ts';

describe('What a bug has left running', () => {
  it('is ended if it was started from the copy, and nothing else is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-strays-'));
    const start = (cwd: string, ...args: string[]) => {
      const script = 'setInterval(() => {}, 1_000); console.log()';
      return spawn(process.execPath, ['-e', script, ...args], { cwd, detached: true });
    };
    const strays = [start(tmpdir(), join(folder, 'x.ts')), start(folder)];
    const other = start(tmpdir(), `${folder.slice(0, -1)}/x.ts`);
    const all = [...strays, other];
    try {
      await Promise.all(all.map(({ stdout }) => once(stdout, 'data')));
      const ended = Promise.all(strays.map((stray) => once(stray, 'exit')));
      endStrays(folder);
      expect(await ended).toEqual([
        [null, 'SIGKILL'],
        [null, 'SIGKILL'],
      ]);
      expect(other.exitCode).toBe(null);
      expect(other.signalCode).toBe(null);
    } finally {
      for (const one of all) one.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    }
  });
});
