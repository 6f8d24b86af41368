import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FixtureRun, resultOf, runFixture } from '../fixtures/run-fixture.ts';

let folder: string;
let run: FixtureRun | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-full-journal-stop-'));
});
afterEach(() => {
  run?.child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('A served system whose journal cannot write', () => {
  it('closes and stops, with a task that it cannot keep', async () => {
    const limited = ['bash', '-c', 'ulimit -S -f 4000 && exec "$0" "$@"'];
    run = runFixture('full-journal-stop', [folder], limited);
    expect(await resultOf(run)).toBe('stopped');
  });
});
