import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brokenPromises } from '../chaos/figures.ts';
import { type Amounts, runScenarios, type ScenarioName } from '../chaos/scenarios.ts';
import { times } from '../fixtures/effort.ts';
import { childrenOf } from '../fixtures/processes.ts';

const SEED = 20_261_122;
const TIMEOUT_MS = 400_000;
/** Ten kills in all, or thirty. */
const KILLS = { mission: times(4, 12), audit: times(1, 3), mail: times(5, 15) };
const FREEZES = 3;
const SOAK_SECONDS = times(4, 10);

let folder: string;
let children: readonly number[];
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-chaos-')));
  children = childrenOf(process.pid);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  expect(childrenOf(process.pid)).toEqual(children);
});

/** Runs one scenario; what did not hold is what the test shows, with the seed. */
async function run(name: ScenarioName, amount: number) {
  const amounts: Amounts = { [name]: amount };
  const said: string[] = [];
  const all = await runScenarios({ folder, seed: SEED, amounts, say: (text) => said.push(text) });
  const figures = all.get(name);
  if (figures === undefined) throw new Error(`${name} did not run`);
  expect(brokenPromises(figures), `--only ${name} --seed ${SEED}\n${said.join('\n')}`).toEqual([]);
  return figures;
}

describe('A process that is killed at a random moment (F-01)', () => {
  it(
    `loses no task that it reported accepted, and does none of them again, over ${KILLS.mission} kills of a mission`,
    async () => {
      const { kills, restarts, notes } = await run('mission', KILLS.mission);
      expect(kills).toBe(KILLS.mission);
      expect(restarts).toBeGreaterThanOrEqual(kills - 1);
      expect(notes.get('tasks remembered')).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    `comes to the findings of a run that nobody disturbs, with all planets, over ${KILLS.audit} ${KILLS.audit === 1 ? 'kill' : 'kills'}`,
    async () => {
      const { kills } = await run('audit', KILLS.audit);
      expect(kills).toBe(KILLS.audit);
    },
    TIMEOUT_MS,
  );

  it(
    `keeps all mail that it acknowledged, in its order, and starts nothing twice for once, over ${KILLS.mail} kills`,
    async () => {
      const { kills, accepted, handled, rejected, expired, deadLettered } = await run('mail', KILLS.mail);
      expect(kills).toBe(KILLS.mail);
      expect(handled + rejected + expired + deadLettered).toBe(accepted);
      expect(Math.min(handled, rejected, expired, deadLettered)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

describe('A process that stands still for longer than leases and heartbeats last (F-02)', () => {
  it(
    'has its late result refused, takes nobody for dead when it goes on, and keeps its journal',
    async () => {
      const { freezes } = await run('freeze', FREEZES);
      expect(freezes).toBe(FREEZES);
    },
    TIMEOUT_MS,
  );
});

describe('A system under a mixed load whose threads and processes are ended and whose agents are upgraded', () => {
  it(
    'accounts for every envelope throughout',
    async () => {
      const { accepted, notes } = await run('soak', SOAK_SECONDS);
      expect(accepted).toBeGreaterThan(10 * SOAK_SECONDS);
      for (const what of ['terminated', 'upgraded', 'answered', 'told'])
        expect(notes.get(what)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});
