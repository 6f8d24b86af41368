import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OrreryError, startSystem, type System } from 'orrery';
import { afterAll, describe, expect, it } from 'vitest';
import { bear } from '../fixtures/agents/frail.ts';
import { record } from '../fixtures/agents/numbers.ts';
import { linesOf } from '../fixtures/lines-of.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const ASKS = 1_000;
const KILLS = 5;
const WIDTH = 32;
const TIMEOUT_MS = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'orrery-process-kill-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Run {
  /** `answered`, or the code of what it was refused with. */
  readonly outcomes: readonly string[];
  /** The ids of the envelopes on which a handler began, as often as one did. */
  readonly started: readonly string[];
  readonly counts: Awaited<ReturnType<System['conservation']>>;
  readonly restarts: number | undefined;
}

/** Asks an agent in a process, many at a time, and kills the process in the middle of it, again and again. */
async function runAsks(delivery: 'once' | 'retry', spinMs: number): Promise<Run> {
  const file = join(folder, `${delivery}-${spinMs}`);
  const system = await startSystem({
    agents: [
      agent(`${delivery}-recorder`, {
        isolation: 'process' as const,
        permissions: { read: [folder], write: [folder] },
      }),
    ],
    supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 10 } },
  });
  try {
    const outcomes: string[] = [];
    let isOver = false;
    let sent = 0;
    const askInTurn = async (): Promise<void> => {
      for (let n = sent++; n < ASKS || !isOver; n = sent++) {
        const asked = system.ask(record, { file, spinMs }, { timeoutMs: TIMEOUT_MS });
        outcomes[n] = await asked.then(
          () => 'answered',
          ({ code }: OrreryError) => code,
        );
      }
    };
    const asking = Promise.all(Array.from({ length: WIDTH }, askInTurn));
    for (let kill = 0; kill < KILLS; kill++) {
      const lines = linesOf(file).length;
      await until('it is in the middle of its work', () => linesOf(file).length > lines + 50, TIMEOUT_MS);
      await killProcess(system);
    }
    isOver = true;
    await asking;
    const counts = await until('everything is settled', async () => {
      const now = await system.conservation();
      return now.inFlight === 0 && now.holds && now;
    });
    return { outcomes, started: linesOf(file), counts, restarts: (await system.roster())[0]?.restarts };
  } finally {
    await system.stop();
  }
}

/** Kills the process of the one agent, as soon as it has one that runs. */
async function killProcess(system: System): Promise<void> {
  const pid = await until('it has a process', async () => {
    const [row] = await system.roster();
    return row?.status === 'running' && row.pid;
  });
  process.kill(pid, 'SIGKILL');
  await until('that is noticed', async () => (await system.roster())[0]?.pid !== pid);
}

/** The first attempts are in the order in which the host sent: its ids count up. */
function expectOrder(started: readonly string[]): void {
  const serials = [...new Set(started)].map((id) => Number.parseInt(id.slice(id.lastIndexOf('-') + 1), 36));
  expect(serials).toEqual([...serials].sort((one, other) => one - other));
}

describe('A process that is killed five times during a thousand asks and more (F-01, F-06)', () => {
  it.each([
    ['at full speed', 0],
    ['with handlers of 1 ms', 1],
  ])(
    'answers every one %s, and begins again on those alone that it had in hand, if it tries again',
    async (_, spinMs) => {
      const { outcomes, started, counts, restarts } = await runAsks('retry', spinMs);
      expect(outcomes.length).toBeGreaterThanOrEqual(ASKS);
      expect(new Set(outcomes)).toEqual(new Set(['answered']));
      expect(new Set(started).size).toBe(outcomes.length);
      expect(started.length - outcomes.length).toBeLessThanOrEqual(KILLS);
      expectOrder(started);
      expect(counts).toMatchObject({ accepted: outcomes.length, handled: outcomes.length });
      expect(restarts).toBe(KILLS);
    },
    TIMEOUT_MS,
  );

  it.each([
    ['at full speed', 0],
    ['with handlers of 1 ms', 1],
  ])(
    'ends each ask with its answer or ACTOR_DIED %s, and begins on none twice, if it does not',
    async (_, spinMs) => {
      const { outcomes, started, counts, restarts } = await runAsks('once', spinMs);
      expect(outcomes.length).toBeGreaterThanOrEqual(ASKS);
      const died = outcomes.filter((outcome) => outcome !== 'answered');
      expect(new Set([...died, 'ACTOR_DIED'])).toEqual(new Set(['ACTOR_DIED']));
      // What was sent ahead and not begun is not cut off with it.
      expect(died.length).toBeLessThanOrEqual(KILLS);
      expect(new Set(started).size).toBe(started.length);
      expectOrder(started);
      expect(started.length).toBeGreaterThanOrEqual(outcomes.length - died.length);
      expect(counts).toMatchObject({
        accepted: outcomes.length,
        handled: outcomes.length - died.length,
        deadLettered: died.length,
      });
      expect(restarts).toBe(KILLS);
    },
    TIMEOUT_MS,
  );
});

describe('What was sent ahead to a process', () => {
  it('begins in the next one, when what is in front of it hangs and is given up', async () => {
    await using system = await startSystem({
      agents: [agent('frail', { isolation: 'process' })],
      supervision: { backOff: { firstMs: 1, maxMs: 1 } },
    });
    const ask = (how: 'answers' | 'hangs', timeoutMs: number) => system.ask(bear, { how }, { timeoutMs });
    // It is given ahead what it does in a moment, once that is known.
    await Promise.all(Array.from({ length: 200 }, () => ask('answers', 20_000)));
    const hung = rejection(ask('hangs', 2_000));
    const behind = Array.from({ length: 20 }, () => ask('answers', TIMEOUT_MS));
    expect((await hung).code).toBe('DEADLINE_EXCEEDED');
    expect(new Set(await Promise.all(behind))).toEqual(new Set(['answered']));
    expect((await system.roster()).find(({ id }) => id === 'frail')?.restarts).toBe(1);
  });
});
