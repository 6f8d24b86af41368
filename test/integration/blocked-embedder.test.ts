import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RosterRow, startSystem } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAULT_FOLDER, poke, STARTS } from '../fixtures/agents/faulty.ts';
import { probe } from '../fixtures/agents/prober.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

/** An agent that does not come back while the embedder is blocked never does: after so long that is the finding. */
const MOST_MS = 90_000;
const LOOK_MS = 50;
const RESTARTED = 2;

const folder = mkdtempSync(join(tmpdir(), 'orrery-blocked-'));

beforeAll(() => {
  process.env[FAULT_FOLDER] = folder;
});
afterAll(() => rmSync(folder, { recursive: true }));

const placed = (isolation: 'thread' | 'process') =>
  isolation === 'process'
    ? {
        isolation,
        permissions: { read: [folder], write: [folder] },
        env: { [FAULT_FOLDER]: folder },
      }
    : { isolation };

/** Blocks the thread until the file has so many lines. */
const BLOCKING = [
  [
    'Atomics.wait',
    (file: string) => {
      const word = new Int32Array(new SharedArrayBuffer(4));
      for (let waitedMs = 0; linesOf(file).length < RESTARTED && waitedMs < MOST_MS; waitedMs += LOOK_MS)
        Atomics.wait(word, 0, 0, LOOK_MS);
    },
  ],
  [
    'spawnSync',
    (file: string) =>
      void spawnSync(
        'sh',
        ['-c', `until [ "$(wc -l < "$0")" -ge ${RESTARTED} ]; do sleep ${LOOK_MS / 1_000}; done`, file],
        { timeout: MOST_MS },
      ),
  ],
] as const;

describe.each([
  ['loops', 'thread'],
  ['killed', 'thread'],
  ['loops', 'process'],
  ['killed', 'process'],
] as const)(
  'While the embedding thread is blocked, an agent that %s, of isolation %s',
  (fault, isolation) => {
    it.each(BLOCKING)('is back, and two others talk to each other: %s', async (_name, blockUntil) => {
      const id = `handle-${fault}`;
      const [sign, starts, begun] = ['', STARTS, '-probing'].map((end) => join(folder, `${id}${end}`)) as [
        string,
        string,
        string,
      ];
      for (const file of [sign, starts, begun]) rmSync(file, { force: true });
      const system = await startSystem({
        agents: [agent('faulty', { instances: [id], ...placed(isolation) }), agent('prober'), agent('echo')],
        workers: 3,
      });
      try {
        const probed = system.ask(probe, { begun, file: starts, lines: RESTARTED });
        await until('the prober begins', () => existsSync(begun));
        const poked = rejection(system.ask({ agent: id, capability: poke }, undefined));
        await until('the agent is at its fault', () => existsSync(sign));
        const { pid, place } = (await system.roster()).find((one) => one.id === id) as RosterRow;
        if (fault === 'killed') {
          if (pid === undefined) void system.terminate(place);
          else process.kill(pid, 'SIGKILL');
        }
        // What was asked for is on its way; from here on this thread does nothing.
        await new Promise((resolve) => setImmediate(resolve));
        blockUntil(starts);
        expect(linesOf(starts)).toHaveLength(RESTARTED);
        expect((await poked).code).toBe('ACTOR_DIED');
        expect((await probed).answers).toBeGreaterThan(0);
      } finally {
        await system.stop();
      }
    });
  },
);
