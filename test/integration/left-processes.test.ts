import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processRecord, readProcesses } from '../../runtime/journal/process-records.ts';
import { SqliteStore } from '../../runtime/journal/sqlite-store.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../../runtime/os/process-identity.ts';
import { times } from '../fixtures/effort.ts';
import { childrenOf, isRunning } from '../fixtures/processes.ts';
import { agent, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/leaving-host.ts', import.meta.url));
const KILLS = times(2, 6);

let folder: string;
let journal: string;
let started: ChildProcess[];
/** Of the agents of hosts, and what these have started. */
let noticed: number[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-left-'));
  journal = join(folder, 'journal.db');
  started = [];
  noticed = [];
});
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  for (const pid of noticed.filter(isRunning)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function run(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  started.push(child);
  return child;
}

const runHost = (): ChildProcess => run(process.execPath, [...CONDITIONS, HOST, journal]);

async function kill(host: ChildProcess): Promise<void> {
  const gone = once(host, 'exit');
  host.kill('SIGKILL');
  await gone;
}

const keptProcesses = async (): Promise<ProcessIdentity[]> => {
  const store = SqliteStore.open({ path: journal });
  const kept = await readProcesses(store);
  await store.close();
  return kept;
};

async function keep(process: ProcessIdentity): Promise<void> {
  const store = SqliteStore.open({ path: journal });
  await store.write([{ mails: [], settled: [], records: [processRecord(process)] }]);
  await store.close();
}

/** What a system on the journal says that it has ended. */
async function endedByTheNext(): Promise<(string | undefined)[]> {
  const system = await startSystem({ journal: { path: journal } });
  const events = await system.recentEvents();
  await system.stop();
  return events.filter(({ type }) => type === 'process-ended').map(({ reason }) => reason);
}

describe('The processes of a dead host (F-12)', () => {
  it('that cannot end by themselves are ended by the next host before any agent starts, with what they started', async () => {
    const host = runHost();
    const [printed] = (await once(host.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const pids = JSON.parse(printed.toString()) as number[];
    noticed.push(...pids);
    expect(pids).toHaveLength(3);
    const [first = 0, second = 0] = pids;
    // One that is stopped does not notice that its host is gone.
    for (const group of [first, second]) process.kill(-group, 'SIGSTOP');
    await kill(host);
    expect((await keptProcesses()).map(({ pid }) => pid).sort()).toEqual([first, second].sort());
    expect(pids.every(isRunning)).toBe(true);

    const system = await startSystem({
      journal: { path: journal },
      agents: [agent('echo', { isolation: 'process' as const })],
    });
    expect(pids.some(isRunning)).toBe(false);
    const events = await system.recentEvents();
    const found = events.filter(({ type }) => type === 'process-ended');
    expect(found.map(({ reason }) => reason).sort()).toEqual(
      [first, second].map((pid) => `process-${pid} of a former host was ended`).sort(),
    );
    const startedAt = events.findIndex(({ type }) => type === 'agent-started');
    expect(startedAt).toBeGreaterThan(Math.max(...found.map((event) => events.indexOf(event))));
    await system.stop();
    expect(await keptProcesses()).toEqual([]);
  });

  it('end, and are forgotten, also when the host was killed just as it had started them', async () => {
    const seen = new Set<number>();
    for (let round = 0; round < KILLS; round++) {
      const host = runHost();
      await until('a process is started', () => {
        for (const pid of childrenOf(host.pid as number)) seen.add(pid);
        return seen.size > round;
      });
      await kill(host);
    }
    await endedByTheNext();
    await until('they are gone', () => ![...seen].some(isRunning));
    expect(await keptProcesses()).toEqual([]);
  }, 120_000);

  it('are forgotten when their system stops, whatever became of processes and their thread meanwhile', async () => {
    const isolation = 'process' as const;
    const system = await startSystem({ journal: { path: journal }, agents: [agent('echo', { isolation })] });
    const [{ pid } = {}] = await system.roster();
    await system.terminate(`process-${pid}`);
    await system.terminate('relay');
    await system.stop();
    const left = await keptProcesses();
    expect(left.filter(isAlive)).toEqual([]);
    // The thread that died could not say so of the one that it had.
    expect(left.length).toBeLessThan(2);
    await endedByTheNext();
    expect(await keptProcesses()).toEqual([]);
  });
});

describe('A process with a number that was noted (F-12)', () => {
  it.each<[string, Partial<ProcessIdentity>]>([
    ['is left alone when it started at another time', { start: '1' }],
    ['is left alone when the machine was started again', { machine: 'another' }],
  ])('%s', async (_title, other) => {
    const { pid = 0 } = run('sleep', ['600']);
    const identity = identityOf(pid) as ProcessIdentity;
    await keep({ ...identity, ...other });
    expect(await endedByTheNext()).toEqual([]);
    expect(isRunning(pid)).toBe(true);
    expect(await keptProcesses()).toEqual([]);
  });

  it('is ended when it is the one', async () => {
    const { pid = 0 } = run('sleep', ['600']);
    await keep(identityOf(pid) as ProcessIdentity);
    expect(await endedByTheNext()).toEqual([`process-${pid} of a former host was ended`]);
    expect(isRunning(pid)).toBe(false);
  });
});
