import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem } from 'orrery';
import type { SwarmOutcome } from 'orrery/swarm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dig, type Dug, LIMITS, lead, look, planOf } from '../fixtures/agents/digging.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { times } from '../fixtures/effort.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { agent, rejection, until } from '../fixtures/until.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const HOST = fileURLToPath(new URL('../fixtures/dig-host.ts', import.meta.url));
const PARTS = 12;
const PART_MS = 100;
const KILLS = times(2, 5);
const SEED = 80_261_122;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-swarms-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One process of the system. */
class Host {
  printed = '';
  errors = '';
  readonly gone: Promise<unknown>;
  readonly #child;

  constructor(owner: string, who: string) {
    const words = [HOST, folder, owner, who, PARTS, PART_MS].map(String);
    this.#child = spawn(process.execPath, [...CONDITIONS, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.gone = once(this.#child, 'close');
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.printed += text;
    });
  }

  async prints(word: string): Promise<void> {
    while (!this.printed.includes(word) && this.#child.exitCode === null)
      await Promise.race([once(this.#child.stdout, 'data'), this.gone]);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.gone;
  }

  /** How the swarm ended; undefined when the process was gone before. */
  async outcome(): Promise<SwarmOutcome> {
    await this.gone;
    const line = this.printed.trim().split('\n').at(-1) ?? '';
    if (!line.startsWith('{')) throw new Error(`It ended without a word: ${this.errors}`);
    return JSON.parse(line) as SwarmOutcome;
  }
}

/** Who began on what: `sub-task epoch agent`, a line each time. */
const begun = (): string[] => linesOf(join(folder, 'dug'));

/** Kills the process so often, at random moments of the swarm's work, and lets the last one get done. */
async function killed(owner: string, who: string, kills: number): Promise<SwarmOutcome> {
  const random = seededRandom(SEED);
  let reached = 0;
  for (let round = 0; round < kills; round++) {
    const host = new Host(owner, who);
    await host.prints(round === 0 ? 'begun' : 'up');
    // The first one dies over its proposals, as likely as not.
    if (round > 0) reached = begun().length + 1 + Math.floor(random() * 3);
    await until('it goes on', () => begun().length >= reached);
    await new Promise((resolve) => setTimeout(resolve, random() * PART_MS));
    await host.kill();
  }
  return new Host(owner, who).outcome();
}

/** Each sub-task has one result that counts, of the assignment that stands; and epochs only grow. */
function checkOutcome({ status, subTasks, results }: SwarmOutcome, parts = PARTS): void {
  expect(status).toBe('completed');
  expect(subTasks).toHaveLength(parts);
  for (const { id, assignments, agentId } of subTasks) {
    expect(assignments.map(({ epoch }) => epoch)).toEqual(assignments.map((_, at) => at + 1));
    expect(assignments.filter(({ end }) => end === 'completed')).toHaveLength(1);
    const { epoch, end } = assignments.at(-1) as (typeof assignments)[number];
    expect(end).toBe('completed');
    expect(results[id]).toEqual({ subTask: id, epoch, agent: agentId as string } satisfies Dug);
    const barred = new Set<string>();
    for (const { agentId: whose, end: how } of assignments) {
      expect(barred.has(whose)).toBe(false);
      if (how === 'failed' || how === 'stalled') barred.add(whose);
    }
  }
}

describe('A swarm of a system with a journal, killed again and again (N-8.4, N-8.5, N-8.6, F-02, F-11)', () => {
  it('is completed by durable agents, each result applied once, and nothing begun twice', async () => {
    const outcome = await killed('host', 'digger', KILLS);
    checkOutcome(outcome);
    const lines = begun();
    expect(new Set(lines).size).toBe(lines.length);
    for (const { id, agentId, assignments } of outcome.subTasks)
      expect(lines).toContain(`${id} ${assignments.length} ${agentId}`);
    // Only what was in hand was given to somebody else, or to the same once more: four at a time.
    const tried = outcome.subTasks.flatMap(({ assignments }) => assignments);
    expect(tried.length).toBeLessThanOrEqual(PARTS + 4 * KILLS);
  }, 300_000);

  it('is completed by agents of whom nothing outlives the process, under epochs of their own', async () => {
    const outcome = await killed('host', 'day-labourer', KILLS);
    checkOutcome(outcome);
    const lines = begun();
    expect(new Set(lines).size).toBe(lines.length);
    const tried = outcome.subTasks.flatMap(({ assignments }) => assignments);
    expect(tried.some(({ end }) => end === 'lost')).toBe(true);
  }, 300_000);

  it('goes on under the name of the loop, whose it is (C-31, C-33)', async () => {
    const outcome = await killed('loop', 'digger', 1);
    checkOutcome(outcome);
    const lines = begun();
    expect(new Set(lines).size).toBe(lines.length);
  }, 300_000);

  it('is found again by the next attempt of the work in which it was made, and done once', async () => {
    // The third process that ends over an envelope is the last one.
    const outcome = await killed('retry-foreman', 'digger', 2);
    checkOutcome(outcome);
    const lines = begun();
    expect(new Set(lines).size).toBe(lines.length);
  }, 300_000);
});

const start = (who: 'digger' | 'day-labourer', ...owners: string[]) =>
  startSystem({
    journal: { path: join(folder, 'journal.db') },
    workers: 2,
    agents: [
      agent(who, { instances: [1, 2, 3, 4].map((n) => `${who}-${n}`) }),
      ...owners.map((owner) => agent(owner)),
    ],
  });

const inputOf = (ms: number) => ({ file: join(folder, 'dug'), ms });

describe('A swarm whose system is stopped, or whose owner loses its thread (N-8.5, N-8.6, F-02)', () => {
  it.each([0, 5_000])(
    'goes on in the next system where it was, stopped within %i ms, and is remembered',
    async (drainMs) => {
      const first = await start('digger');
      const plan = planOf(6, inputOf(300));
      const { id } = await first.swarms.createSwarm('Dig', [dig.id], { ...LIMITS, plan });
      await until('four dig', () => begun().length >= 4);
      const over = rejection(first.swarms.outcome(id));
      await first.stop({ drainMs });
      expect(await over).toMatchObject({ code: 'SYSTEM_STOPPED' });

      const second = await start('digger');
      expect(second.swarms.listSwarms()).toMatchObject([{ id, status: 'active' }]);
      expect(second.swarms.getSwarm(id)?.subTasks.filter(({ status }) => status === 'failed')).toEqual([]);
      const outcome = await second.swarms.outcome(id);
      expect(outcome.status).toBe('completed');
      await second.stop();

      await using third = await start('digger');
      expect(third.swarms.listSwarms()).toMatchObject([{ id, status: 'completed' }]);
      expect(third.swarms.listActiveSwarms()).toEqual([]);
      expect(await third.swarms.outcome(id)).toEqual(outcome);
      expect(new Set(begun()).size).toBe(begun().length);
    },
  );

  it.each(['digger', 'day-labourer'] as const)(
    'is done once when the thread of its owner dies, by each %s',
    async (who) => {
      await using system = await start(who, 'retry-foreman');
      const ends = join(folder, 'ends');
      const order = { ...inputOf(400), parts: 8, ends };
      system.tell({ agent: 'retry-foreman', capability: lead }, order);
      await until('some dig', () => begun().length >= 2);
      const roster = await system.roster();
      const placeOf = (id: string) => roster.find((row) => row.id === id)?.place as string;
      await system.terminate(placeOf('retry-foreman'));
      await until('it is written down how it ended', () => linesOf(ends).length > 0);
      const outcome = JSON.parse(linesOf(ends).at(-1) as string) as SwarmOutcome;
      checkOutcome(outcome, 8);
      expect(new Set(begun()).size).toBe(begun().length);
      const elsewhere = outcome.subTasks.filter(({ assignments: [first] }) => {
        return placeOf(first?.agentId as string) !== placeOf('retry-foreman');
      });
      expect(elsewhere.length).toBeGreaterThan(0);
      // A durable agent in another thread has gone on with what it had.
      for (const { assignments } of elsewhere)
        if (who === 'digger') expect(assignments).toMatchObject([{ epoch: 1, end: 'completed' }]);
      expect(await system.ask(look, undefined)).toMatchObject([{ status: 'completed' }]);
    },
  );

  it('is cancelled, with all that it has handed out, when nobody is to try the work again that it belongs to', async () => {
    await using system = await start('digger', 'once-foreman');
    const order = { ...inputOf(60_000), parts: 4, ends: join(folder, 'ends') };
    const asked = rejection(system.ask(lead, order));
    await until('four dig', () => begun().length === 4);
    const [{ place } = { place: '' }] = (await system.roster()).filter(({ id }) => id === 'once-foreman');
    await system.terminate(place);
    expect(await asked).toMatchObject({ code: 'ACTOR_DIED' });
    await until('it is cancelled', async () => (await system.ask(look, undefined))[0]?.status === 'failed');
    await until('nobody digs', async () => (await system.conservation()).inFlight === 0);
    expect(begun()).toHaveLength(4);
  });
});
