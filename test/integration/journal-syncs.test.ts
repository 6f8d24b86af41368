import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-syncs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const TRACER = 'strace';
/** On a developer's machine it may be missing; where everything must hold it may not. */
const isMissing = process.env['CI'] === undefined && spawnSync(TRACER, ['-V']).status !== 0;

/** Watches the system calls of a program and its threads; `-y` names the files. */
const watching = (calls: string, output: string): readonly string[] => [
  TRACER,
  '-f',
  '-y',
  '-e',
  `trace=${calls}`,
  '-o',
  output,
];

/** Calls that returned, in their order; one that another thread interrupted counts where it returned. */
const callsIn = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(' = 0') || /write.* = [1-9]\d*$/.test(line));

const SYNC = /fdatasync|fsync/;

describe.skipIf(isMissing)('The kernel is asked to sync (needs strace)', () => {
  it('the log, before each write to a store is acknowledged', async () => {
    const WRITES = 100;
    const output = join(folder, 'writer.trace');
    const path = join(folder, 'writer');
    const under = watching('fsync,fdatasync,write', output);
    const { ended } = runFixture(
      'store-writer',
      [JSON.stringify({ path }), '1', '0', String(WRITES), 'exit'],
      under,
    );
    expect(await ended).toMatchObject({ code: 0 });
    let syncsOfLog = 0;
    let acknowledged = 0;
    for (const call of callsIn(output)) {
      if (SYNC.test(call) && (call.includes('-wal>') || call.includes('resumed'))) syncsOfLog += 1;
      if (!/write\(1<[^"]*"\d+ \d+\\n"/.test(call)) continue;
      expect(syncsOfLog, call).toBeGreaterThan(0);
      syncsOfLog = 0;
      acknowledged += 1;
    }
    expect(acknowledged).toBe(WRITES);
  });

  it('at least once for each commit of a journal, and less often than it acknowledges units', async () => {
    const output = join(folder, 'journal.trace');
    const path = join(folder, 'journal');
    const run = runFixture('journal-host', [path, '4', '200'], watching('fsync,fdatasync', output));
    const { acknowledged, isInOrder, commits } = await resultOf<{
      acknowledged: number;
      isInOrder: boolean;
      commits: number;
    }>(run);
    expect({ acknowledged, isInOrder }).toEqual({ acknowledged: 800, isInOrder: true });
    const syncs = callsIn(output).filter((call) => SYNC.test(call)).length;
    expect(syncs).toBeGreaterThanOrEqual(commits);
    expect(commits).toBeLessThan(acknowledged / 2);
    const store = SqliteStore.open({ path });
    expect(await store.mails({ limit: 5_000 })).toHaveLength(4 * 399);
    await store.close();
    console.info(`${acknowledged} units, ${commits} commits, ${syncs} syncs`);
  });
});
