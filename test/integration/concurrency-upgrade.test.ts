import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { order, sendThreads, weave, type WovenLine, wovenIn } from '../fixtures/agents/versions/weaving.ts';
import { times } from '../fixtures/effort.ts';
import { until } from '../fixtures/until.ts';
import { rowOf, version, withTeam } from '../fixtures/upgrading.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-weaving-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newFile = (): string => {
  files += 1;
  return join(folder, `${files}`);
};

const SENDERS = ['other-thread', 'same-thread'] as const;
/** The first weaver lives in the thread of the last sender. */
const senders = SENDERS.map((id) => ({ module: version('orderer-of-threads'), instances: [id] }));
const WEAVER = 'weaver-once';
const numbers = (length: number): number[] => Array.from({ length }, (_, at) => at + 1);
const begunOf = (lines: readonly WovenLine[]): WovenLine[] => lines.filter(({ what }) => what === '+');

/** How many each version had in hand at most. Fails where two versions had something in hand at the same time. */
function peaksOf(lines: readonly WovenLine[]): Record<string, number> {
  const peaks: Record<string, number> = {};
  const inHand: string[] = [];
  for (const { what, version: by } of lines) {
    if (what === '+') inHand.push(by);
    else expect(inHand.splice(inHand.indexOf(by), 1)).toEqual([by]);
    expect(new Set(inHand).size).toBeLessThanOrEqual(1);
    peaks[by] = Math.max(peaks[by] ?? 0, inHand.length);
  }
  return peaks;
}

describe('An upgrade of an agent that has several envelopes in hand (F-10)', () => {
  it.each(['inline', 'thread'] as const)(
    'has the old code finish them all, and the new one take as many as it says, under load: %s',
    (isolation) =>
      withTeam({ agents: [{ module: version('weaver-4'), isolation }, ...senders] }, async (system) => {
        const file = newFile();
        const upTo = times(400, 2_000);
        const to = [WEAVER];
        const sent = Promise.all([
          sendThreads(system, { from: 'host', to, upTo, file }),
          ...SENDERS.map((agent) =>
            system.ask({ agent, capability: order }, { to, upTo, file }, { timeoutMs: 120_000 }),
          ),
        ]);
        const all = (SENDERS.length + 1) * upTo;
        const names = ['weaver-1', 'weaver-8', 'weaver-1', 'weaver-4'];
        for (const [at, name] of names.entries()) {
          await until(
            'the load goes on',
            () => wovenIn(file).length >= ((2 * all) / (names.length + 1)) * (at + 1),
          );
          await system.upgrade(WEAVER, { module: version(name) });
        }
        await sent;
        await until('all is done', async () => (await system.conservation()).inFlight === 0);
        const lines = wovenIn(file);
        expect(peaksOf(lines)).toEqual({ '1.0.0': 1, '4.0.0': 4, '8.0.0': 8 });
        // Each once, and begun in the order of its sender.
        for (const from of ['host', ...SENDERS])
          expect(
            begunOf(lines)
              .filter((line) => line.from === from)
              .map(({ n }) => n),
          ).toEqual(numbers(upTo));
        expect(lines).toHaveLength(2 * all);
        expect(await system.conservation()).toMatchObject({
          holds: true,
          rejected: 0,
          expired: 0,
          deadLettered: 0,
        });
        expect(await rowOf(system, WEAVER)).toMatchObject({ status: 'running', restarts: 0 });
      }),
    120_000,
  );

  it.each(['once', 'retry'] as const)(
    'cuts off all that are not done in time, as a restart does, and those that wait come after: %s',
    (delivery) =>
      withTeam(
        { agents: [{ module: version(delivery === 'once' ? 'weaver-4' : 'weaver-4-retry') }] },
        async (system) => {
          const file = newFile();
          const agent = `weaver-${delivery}`;
          const asks = numbers(7).map((n) =>
            system.ask({ agent, capability: weave }, { from: 'host', n, hangs: n <= 4, file }).then(
              () => 'done',
              ({ code }: { code: string }) => code,
            ),
          );
          await until('four are in hand', () => wovenIn(file).length === 4);
          await system.upgrade(agent, { graceMs: 20 });
          if (delivery === 'once') {
            expect(await Promise.all(asks)).toEqual([
              ...numbers(4).map(() => 'ACTOR_DIED'),
              ...numbers(3).map(() => 'done'),
            ]);
            expect(begunOf(wovenIn(file)).map(({ n }) => n)).toEqual(numbers(7));
          } else {
            await until('four are in hand again', () => wovenIn(file).length === 8);
            expect(wovenIn(file).map(({ n }) => n)).toEqual([...numbers(4), ...numbers(4)]);
          }
          expect(await rowOf(system, agent)).toMatchObject({ status: 'running', restarts: 0 });
        },
      ),
  );

  it('to more at a time leaves what a thread had sent before to be handled one after the other', () =>
    withTeam({ agents: [{ module: version('weaver-1') }] }, async (system) => {
      const file = newFile();
      const tell = (n: number): void =>
        expect(
          system.tell({ agent: WEAVER, capability: weave }, { from: 'host', n, ms: 20, file }),
        ).toMatchObject({ delivered: true });
      for (const n of numbers(4)) tell(n);
      await until('the first is in hand', () => wovenIn(file).length > 0);
      await system.upgrade(WEAVER, { module: version('weaver-4') });
      for (const n of numbers(8)) tell(4 + n);
      await until('all is done', async () => (await system.conservation()).inFlight === 0);
      const lines = wovenIn(file);
      expect(begunOf(lines).map(({ n }) => n)).toEqual(numbers(12));
      expect(lines.filter(({ n }) => n <= 4).map(({ what, n }) => `${what}${n}`)).toEqual(
        numbers(4).flatMap((n) => [`+${n}`, `-${n}`]),
      );
      expect(peaksOf(lines)['4.0.0']).toBe(4);
    }));

  it(
    'survives the death of its thread at any moment, and every envelope is done',
    () =>
      withTeam(
        {
          agents: [{ module: version('weaver-4-retry') }, ...senders],
          supervision: { intensity: { maxRestarts: 1_000 }, backOff: { firstMs: 1, maxMs: 1 } },
        },
        async (system) => {
          const file = newFile();
          const upTo = times(300, 2_000);
          const agent = 'weaver-retry';
          const sent = system.ask(
            { agent: 'other-thread', capability: order },
            { to: [agent], upTo, file },
            { timeoutMs: 120_000 },
          );
          const outcomes = new Set<string>();
          for (let at = 1; at <= times(8, 30); at++) {
            const upgrading = system.upgrade(agent, {}).then(
              () => 'upgraded',
              ({ code }: { code: string }) => code,
            );
            // Each time a little later in the course of the upgrade.
            for (let turn = 0; turn < at * 2; turn++) await new Promise((resolve) => setImmediate(resolve));
            await system.terminate((await rowOf(system, agent))?.place ?? '');
            outcomes.add(await upgrading);
          }
          for (const outcome of outcomes)
            expect(['upgraded', 'THREAD_DIED', 'MODULE_INVALID']).toContain(outcome);
          await sent;
          await until('all is done', async () => (await system.conservation()).inFlight === 0);
          expect(await system.conservation()).toMatchObject({
            holds: true,
            rejected: 0,
            expired: 0,
            deadLettered: 0,
          });
          const done = new Set(wovenIn(file).flatMap(({ what, n }) => (what === '-' ? [n] : [])));
          expect([...done].sort((one, other) => one - other)).toEqual(numbers(upTo));
        },
      ),
    120_000,
  );
});

describe('A lazy agent, and instances of one module, with several envelopes in hand', () => {
  const INSTANCES = ['one', 'two'];

  it('take as many each from their first mail on, and the code that an upgrade gave them before that', () =>
    withTeam(
      { agents: [{ module: version('weaver-1'), instances: INSTANCES, lazy: true }, ...senders], workers: 1 },
      async (system) => {
        const file = newFile();
        await system.upgrade('two', { module: version('weaver-4') });
        const to = INSTANCES;
        await system.ask({ agent: 'same-thread', capability: order }, { to, upTo: 40, file });
        await until('all is done', async () => (await system.conservation()).inFlight === 0);
        const lines = wovenIn(file);
        expect(to.map((id) => peaksOf(lines.filter(({ agent }) => agent === id)))).toEqual([
          { '1.0.0': 1 },
          { '4.0.0': 4 },
        ]);
        expect(lines).toHaveLength(2 * 2 * 40);
      },
    ));

  it('begin again on what each had in hand when their thread dies, before what waits', () =>
    withTeam(
      { agents: [{ module: version('weaver-4-retry'), instances: INSTANCES, lazy: true }], workers: 1 },
      async (system) => {
        const file = newFile();
        const send = (agent: string, n: number, hangs: boolean) =>
          expect(system.tell({ agent, capability: weave }, { from: 'host', n, hangs, file })).toMatchObject({
            delivered: true,
          });
        for (const n of numbers(6)) for (const agent of INSTANCES) send(agent, n, n <= 4);
        await until('each has four in hand', () => wovenIn(file).length === 8);
        await system.terminate((await rowOf(system, 'one'))?.place ?? '');
        await until('each has them again', () => wovenIn(file).length === 16);
        for (const id of INSTANCES)
          expect(wovenIn(file).flatMap(({ agent, n }) => (agent === id ? [n] : []))).toEqual([
            ...numbers(4),
            ...numbers(4),
          ]);
      },
    ));
});
