import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RosterRow, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echoed } from '../fixtures/agents/echo.agent.ts';
import {
  FAULT_FOLDER,
  FAULTS,
  type Fault,
  PHASES,
  type Phase,
  poke,
  PROCESS_FAULTS,
} from '../fixtures/agents/faulty.ts';
import { systemWithFaultyControl } from '../fixtures/faulty-control.ts';
import { readTable } from '../fixtures/page-table.ts';
import { childrenOf } from '../fixtures/processes.ts';
import { keepAsking } from '../fixtures/unrelated.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const FAULTS_OF = {
  inline: ['throws', 'rejects', 'hangs'],
  thread: FAULTS,
  process: PROCESS_FAULTS,
} as const satisfies Record<string, readonly Fault[]>;
type Isolation = keyof typeof FAULTS_OF;
/** A hanging handler is given this long; loops must be found before, also on a busy machine. */
const TIMEOUT_MS = { hangs: 500, others: 100_000 };

const TASKS = '/proc/self/task';
const matrix = readTable({ page: 'failure-matrix.md', first: 'fault' });
const folder = mkdtempSync(join(tmpdir(), 'orrery-faults-'));

/** Where the system does not say how many threads there are, nothing is found. */
const threads = (): number => (existsSync(TASKS) ? readdirSync(TASKS).length : 1);
let quietThreads = 0;

beforeAll(async () => {
  process.env[FAULT_FOLDER] = folder;
  // The first system makes threads that stay with the process: those of V8 and libuv.
  const system = await startSystem({ agents: [agent('echo')] });
  await system.stop();
  quietThreads = await until('threads end', settledThreads);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function settledThreads(): Promise<number | undefined> {
  const before = threads();
  await new Promise((resolve) => setTimeout(resolve, 100));
  return threads() === before ? before : undefined;
}

const isBegun = (phase: Phase, fault: Fault): boolean => existsSync(join(folder, `${phase}-${fault}`));

/** What an agent needs to commit its fault there: a process is given the folder, and too little memory. */
const placed = (isolation: Isolation) =>
  isolation === 'process'
    ? {
        isolation,
        permissions: { read: [folder], write: [folder] },
        env: { [FAULT_FOLDER]: folder },
        memoryMb: 64,
      }
    : { isolation };

/** Only a start that never ends is to be found soon. */
const moduleOf = (id: string): string =>
  id === 'start-hangs' || id === 'start-loops' ? 'faulty-start' : 'faulty';

/** What ends the thread, or the process, that the agent lives in. */
async function killerOf(system: System, id: string): Promise<() => unknown> {
  const { pid, place } = (await system.roster()).find((one) => one.id === id) as RosterRow;
  return () => (pid === undefined ? system.terminate(place) : process.kill(pid, 'SIGKILL'));
}

async function stateOf(system: System, id: string): Promise<string> {
  const row = (await system.roster()).find((one) => one.id === id);
  return `${row?.status}, ${row?.restarts}`;
}

/** `cell` reads `code, status, restarts`. */
async function runCell(system: System, phase: Phase, fault: Fault, cell: string): Promise<void> {
  const [asker, ...state] = cell.split(', ');
  const id = `${phase}-${fault}`;
  const stopAsking = keepAsking(system);
  const timeoutMs = fault === 'hangs' && phase === 'handle' ? TIMEOUT_MS.hangs : TIMEOUT_MS.others;
  const asked = system.ask({ agent: id, capability: poke }, undefined, { timeoutMs }).then(
    (answer) => answer,
    (error: { code: string }) => error.code,
  );
  if (fault === 'killed') {
    await until('the agent waits', () => isBegun(phase, fault));
    await (await killerOf(system, id))();
  }
  expect(await asked).toBe(asker);
  await expect.poll(() => stateOf(system, id), { timeout: 60_000 }).toBe(state.join(', '));
  expect(isBegun(phase, fault)).toBe(true);
  const { count, codes } = await stopAsking();
  expect(codes).toEqual([]);
  expect(count).toBeGreaterThan(0);
}

describe.each(PHASES)('A fault at %s', (phase) => {
  describe.each(['inline', 'thread', 'process'] as const)('of an agent of isolation %s', (isolation) => {
    let system: System;

    beforeAll(async () => {
      const ids = FAULTS_OF[isolation].map((fault) => `${phase}-${fault}`);
      // Started by the first envelope, so that somebody waits for an answer while the start fails.
      const options = { ...placed(isolation), lazy: phase === 'start' };
      for (const id of ids) rmSync(join(folder, id), { force: true });
      system = await startSystem({
        agents: [...ids.map((id) => agent(moduleOf(id), { instances: [id], ...options })), agent('echo')],
        // Each has its own: what ends a thread ends all that share it.
        workers: ids.length + 1,
      });
    });

    it.each(FAULTS_OF[isolation])(
      'that %s ends as the matrix says, and others answer all the while',
      async (fault) => {
        const cell = matrix.get(fault)?.get(`${phase}, ${isolation}`);
        await runCell(system, phase, fault, cell as string);
      },
    );

    afterAll(async () => {
      await system?.stop();
      await until('no thread is left', () => threads() <= quietThreads);
      if (isolation === 'process') expect(childrenOf(process.pid)).toEqual([]);
    });
  });
});

/** How long the embedder may take to notice: a thread that has ended at once, one that is stuck in a few seconds. */
const NOTICED_MS = 60_000;

describe('A fault of the control thread', () => {
  it.each(FAULTS)('that %s ends the system as the matrix says, and leaves no thread', async (fault) => {
    const sign = join(folder, `control-${fault}`);
    const agents = [agent('faulty', { instances: ['handle-hangs'] }), agent('echo')];
    const { system, kill } = await systemWithFaultyControl(fault, sign, { agents });
    try {
      expect(await system.ask({ agent: 'echo', capability: echoed }, { n: 1 })).toEqual({ n: 1 });
      const stopAsking = keepAsking(system);
      const begun = performance.now();
      const open = rejection(
        system.ask({ agent: 'handle-hangs', capability: poke }, undefined, { timeoutMs: NOTICED_MS }),
      );
      writeFileSync(sign, '');
      if (fault === 'killed') await kill();
      expect((await open).code).toBe(matrix.get(fault)?.get('supervisor'));
      expect(performance.now() - begun).toBeLessThan(NOTICED_MS);
      expect((await rejection(system.roster())).code).toBe('CONTROL_LOST');
      const { codes } = await stopAsking();
      expect(codes.filter((code) => code !== 'CONTROL_LOST')).toEqual([]);
    } finally {
      await system.stop();
    }
    await until('no thread is left', () => threads() <= quietThreads);
  });
});
