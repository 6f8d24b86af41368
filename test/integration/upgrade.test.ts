import { defineAgent } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { clear, count, fail, totals } from '../fixtures/agents/versions/adding.ts';
import { send, sendNumbers } from '../fixtures/agents/versions/sending.ts';
import { look, set } from '../fixtures/agents/versions/timing.ts';
import { times } from '../fixtures/effort.ts';
import { rejection, until } from '../fixtures/until.ts';
import {
  counted,
  inHand,
  rowOf,
  tellNumbers,
  toldBy,
  version,
  wholeSum,
  withTeam,
} from '../fixtures/upgrading.ts';

const SENDERS = ['other-thread', 'same-thread'] as const;
/** The first adder lives in the thread of the last sender. */
const senders = SENDERS.map((id) => ({ module: version('sender'), instances: [id] }));
const fault = (name: string): URL => new URL(`../fixtures/agents/broken/${name}.agent.ts`, import.meta.url);

describe('An upgrade under load (F-10)', () => {
  it.each([
    ['thread', times(2, 10), times(3_000, 20_000)],
    ['inline', times(2, 10), times(1_000, 6_000)],
    ['process', times(2, 3), times(1_000, 2_000)],
  ] as const)(
    'goes to another version and back while envelopes come from three threads: %s, %i times, %i of them',
    (isolation, times, all) =>
      withTeam({ agents: [{ module: version('adder-1'), isolation }, ...senders] }, async (system) => {
        const upTo = Math.floor(all / 3);
        const fromHost = all - 2 * upTo;
        const to = ['adder'];
        const sent = Promise.all([
          sendNumbers(system, { from: 'host', to, upTo: fromHost }),
          ...SENDERS.map((agent) =>
            system.ask({ agent, capability: send }, { to, upTo }, { timeoutMs: 120_000 }),
          ),
        ]);
        const changes = 2 * times;
        for (let at = 1; at <= changes; at++) {
          const least = (all / (changes + 2)) * at;
          await until('the load goes on', async () => counted((await toldBy(system)).totals) >= least);
          await system.upgrade('adder', { module: version(at % 2 === 1 ? 'adder-2' : 'adder-1') });
        }
        const during = await toldBy(system);
        expect(during).toMatchObject({ version: '1.0.0', lives: changes + 1 });
        expect(await sent).toEqual([fromHost, upTo, upTo]);
        const after = await until('all is added up', async () => {
          const told = await toldBy(system);
          return counted(told.totals) >= all && told;
        });
        expect(after.totals).toEqual({
          host: wholeSum(fromHost),
          'other-thread': wholeSum(upTo),
          'same-thread': wholeSum(upTo),
        });
        const account = await system.conservation();
        expect(account).toMatchObject({ holds: true, rejected: 0, expired: 0, deadLettered: 0 });
        expect(await system.deadLetters()).toEqual([]);
        expect(await rowOf(system)).toMatchObject({ status: 'running', restarts: 0, version: '1.0.0' });
      }),
    120_000,
  );

  it(
    'of 21 agents, one after the other, loses nothing: a restart, forward and back',
    () =>
      withTeam(
        {
          agents: [
            { module: version('adder-1'), instances: Array.from({ length: 21 }, (_, at) => `adder-${at}`) },
            ...senders,
          ],
          workers: 3,
        },
        async (system) => {
          const to = Array.from({ length: 21 }, (_, at) => `adder-${at}`);
          const upTo = times(100, 300);
          const sent = Promise.all([
            sendNumbers(system, { from: 'host', to, upTo }),
            ...SENDERS.map((agent) =>
              system.ask({ agent, capability: send }, { to, upTo }, { timeoutMs: 120_000 }),
            ),
          ]);
          const all = (name: string) =>
            system.upgradeAll(to.map((agentId) => ({ agentId, module: version(name) })));
          const upgraded = to.map((agentId) => ({ agentId, outcome: 'upgraded' }));
          expect(await system.rollingRestart(to)).toEqual(upgraded);
          expect(await all('adder-2')).toEqual(upgraded);
          expect(
            new Set((await system.roster()).filter(({ id }) => to.includes(id)).map((row) => row.version)),
          ).toEqual(new Set(['2.0.0']));
          expect(await all('adder-1')).toEqual(upgraded);
          expect(await sent).toEqual([21 * upTo, 21 * upTo, 21 * upTo]);
          for (const id of to) {
            const after = await until('all is added up', async () => {
              const told = await toldBy(system, id);
              return counted(told.totals) >= 3 * upTo && told;
            });
            expect(after).toEqual({
              version: '1.0.0',
              lives: 3,
              totals: { host: wholeSum(upTo), 'other-thread': wholeSum(upTo), 'same-thread': wholeSum(upTo) },
            });
          }
          expect(await system.conservation()).toMatchObject({
            holds: true,
            rejected: 0,
            expired: 0,
            deadLettered: 0,
          });
        },
      ),
    120_000,
  );

  it(
    'survives the death of its thread at any moment: the agent has the old code or the new, and every envelope an outcome',
    () =>
      withTeam(
        {
          agents: [{ module: version('adder-1') }, ...senders],
          supervision: { intensity: { maxRestarts: 1_000 }, backOff: { firstMs: 1, maxMs: 1 } },
        },
        async (system) => {
          const upTo = 3_000;
          const sent = system.ask(
            { agent: 'other-thread', capability: send },
            { to: ['adder'], upTo },
            { timeoutMs: 120_000 },
          );
          const outcomes = new Set<string>();
          for (let at = 1; at <= 12; at++) {
            const name = at % 2 === 1 ? 'adder-2' : 'adder-1';
            const upgrading = system.upgrade('adder', { module: version(name) }).then(
              () => 'upgraded',
              (error: { code: string }) => error.code,
            );
            // Each time a little later in the course of the upgrade.
            for (let turn = 0; turn < at * 2; turn++) await new Promise((resolve) => setImmediate(resolve));
            await system.terminate((await rowOf(system))?.place ?? '');
            outcomes.add(await upgrading);
            const { version: runs } = await toldBy(system);
            expect(['1.0.0', '2.0.0']).toContain(runs);
            await until('the roster says so', async () => {
              const row = await rowOf(system);
              return row?.status === 'running' && row.version === runs;
            });
          }
          for (const outcome of outcomes)
            expect(['upgraded', 'THREAD_DIED', 'MODULE_INVALID']).toContain(outcome);
          expect(await sent).toBe(upTo);
          await until(
            'every envelope has an outcome',
            async () => (await system.conservation()).inFlight === 0,
          );
          expect(await system.conservation()).toMatchObject({ holds: true, rejected: 0, expired: 0 });
          await system.upgrade('adder', { module: version('adder-2') });
          expect((await toldBy(system)).version).toBe('2.0.0');
        },
      ),
    120_000,
  );
});

describe('An upgrade (F-10)', () => {
  it('to a module that cannot be used changes nothing: the old one works on', () =>
    withTeam({ agents: [{ module: version('adder-1') }] }, async (system) => {
      tellNumbers(system, { last: 10 });
      for (const name of ['throws', 'empty', 'two', 'tier'])
        expect(await rejection(system.upgrade('adder', { module: fault(name) })), name).toMatchObject({
          code: 'MODULE_INVALID',
        });
      tellNumbers(system, { first: 11, last: 20 });
      expect(await toldBy(system)).toEqual({ version: '1.0.0', lives: 1, totals: { host: wholeSum(20) } });
      expect(await rowOf(system)).toMatchObject({ status: 'running', version: '1.0.0', restarts: 0 });
    }));

  it('is refused when the state is not what JSON can say, and the agent goes on; without its state it can be upgraded', () =>
    withTeam({ agents: [{ module: version('adder-1-mapped') }] }, async (system) => {
      const { code, message } = await rejection(system.upgrade('adder', { module: version('adder-1') }));
      expect(code).toBe('NOT_SERIALISABLE');
      expect(message).toContain('state.sums holds an instance of Map');
      expect(await toldBy(system)).toMatchObject({ lives: 1 });
      await system.upgrade('adder', { module: version('adder-1'), fresh: true });
      tellNumbers(system, { last: 3 });
      expect(await toldBy(system)).toMatchObject({ lives: 1, totals: { host: wholeSum(3) } });
    }));

  it('to the same module is a restart that keeps the state', () =>
    withTeam({ agents: [{ module: version('adder-1') }] }, async (system) => {
      tellNumbers(system, { last: 10 });
      await system.upgrade('adder');
      expect(await toldBy(system)).toEqual({ version: '1.0.0', lives: 1, totals: { host: wholeSum(10) } });
      await system.upgrade('adder', { fresh: true });
      expect(await toldBy(system)).toEqual({ version: '1.0.0', lives: 1, totals: {} });
    }));

  it('says how the agent stands: one that failed runs the new code when it is restarted', () =>
    withTeam(
      { agents: [{ module: version('adder-1') }], supervision: { intensity: { maxRestarts: 0 } } },
      async (system) => {
        expect(await system.upgrade('adder')).toEqual({ status: 'running' });
        await rejection(system.ask({ agent: 'adder', capability: fail }, undefined));
        await until('it has failed', async () => (await rowOf(system))?.status === 'failed');
        const module = version('adder-2');
        expect(await system.upgrade('adder', { module })).toEqual({ status: 'failed' });
        expect(await system.upgradeAll([{ agentId: 'adder', module }])).toEqual([
          { agentId: 'adder', outcome: 'upgraded', status: 'failed' },
        ]);
        await system.restart('adder');
        expect(await toldBy(system)).toMatchObject({ version: '2.0.0' });
      },
    ));

  it('is what later restarts begin with', () =>
    withTeam({ agents: [{ module: version('adder-1') }] }, async (system) => {
      await system.upgrade('adder', { module: version('adder-2') });
      expect((await rejection(system.ask({ agent: 'adder', capability: fail }, undefined))).code).toBe(
        'HANDLER_FAILED',
      );
      expect(await toldBy(system)).toEqual({ version: '2.0.0', lives: 1, totals: {} });
      await system.terminate((await rowOf(system))?.place ?? '');
      expect((await toldBy(system)).version).toBe('2.0.0');
    }));

  it.each(['thread', 'process'] as const)(
    'waits for what is in hand, and cuts it off as a restart does when that takes too long; the state is kept: %s',
    (isolation) =>
      withTeam({ agents: [{ module: version('adder-1'), isolation }] }, async (system) => {
        tellNumbers(system, { last: 10 });
        const short = await inHand(system, 100);
        tellNumbers(system, { first: 11, last: 20 });
        await system.upgrade('adder', { module: version('adder-2') });
        await short.done;
        const long = await inHand(system, 60_000);
        tellNumbers(system, { first: 21, last: 30 });
        await system.upgrade('adder', { module: version('adder-1'), graceMs: 50 });
        expect(await rejection(long.done)).toMatchObject({
          code: 'ACTOR_DIED',
          message: expect.stringContaining('50 ms'),
        });
        expect(await toldBy(system)).toEqual({ version: '1.0.0', lives: 3, totals: { host: wholeSum(30) } });
      }),
  );

  it('rejects what waits for a capability that the new code does not have, and offers what it adds', () =>
    withTeam({ agents: [{ module: version('adder-1') }] }, async (system) => {
      expect((await rejection(system.ask(count, undefined))).code).toBe('CAPABILITY_NOT_FOUND');
      // It lasts until the upgrade cuts it off, however long it takes to load the new code.
      const { done } = await inHand(system, 60_000);
      const waits = rejection(system.ask({ agent: 'adder', capability: clear }, undefined));
      await system.upgrade('adder', { module: version('adder-2'), graceMs: 50 });
      expect((await rejection(done)).code).toBe('ACTOR_DIED');
      expect(await waits).toMatchObject({
        code: 'REFUSED',
        message: expect.stringContaining('adding.clear'),
      });
      expect(await system.ask(count, undefined)).toBe(0);
      expect((await rejection(system.ask(clear, undefined))).code).toBe('CAPABILITY_NOT_FOUND');
      expect(system.registry.findByCapability('adding.count')).toMatchObject([
        { id: 'adder', version: '2.0.0' },
      ]);
    }));

  it('of an agent that does not run takes effect when it starts: lazy, or stopped', () =>
    withTeam({ agents: [{ module: version('adder-1'), lazy: true }] }, async (system) => {
      await system.upgrade('adder', { module: version('adder-2') });
      expect((await toldBy(system)).version).toBe('2.0.0');
      await system.stopAgent('adder');
      await system.upgrade('adder', { module: version('adder-1') });
      expect((await rowOf(system))?.status).toBe('stopped');
      await system.restart('adder');
      expect((await toldBy(system)).version).toBe('1.0.0');
    }));

  it.each(['thread', 'inline', 'process'] as const)(
    'of a state machine goes on in the middle of a delay, in the same machine and in another: %s',
    (isolation) =>
      withTeam({ agents: [{ module: version('timer-1'), isolation }] }, async (system) => {
        const timer = { agent: 'timer', capability: look };
        const rings = (times: number) =>
          until('it rings', async () => (await system.ask(timer, undefined)).rung === times);
        await system.ask(set, undefined);
        await system.upgrade('timer');
        await rings(1);
        expect(await system.ask(timer, undefined)).toEqual({ does: 'still', rung: 1, version: '1.0.0' });
        await system.ask(set, undefined);
        await system.upgrade('timer', { module: version('timer-2') });
        await rings(2);
        expect(await system.ask(timer, undefined)).toEqual({ does: 'idle', rung: 2, version: '2.0.0' });
      }),
  );

  it("of a live agent goes to another live one, in the embedder's thread", () => {
    const counter = (step: number, at: string) =>
      defineAgent({ id: 'live', name: 'LIVE', version: at, description: 'Counts', tier: 2 })
        .onStart(() => ({ n: 0 }))
        .keepsState(z.object({ n: z.int() }))
        .handle(totals, (_, ctx) => {
          ctx.state.n += step;
          return { version: at, totals: {}, lives: ctx.state.n };
        });
    return withTeam({ agents: [counter(1, '1.0.0'), { module: version('adder-1') }] }, async (system) => {
      expect(await toldBy(system, 'live')).toMatchObject({ version: '1.0.0', lives: 1 });
      await system.upgrade('live', { module: counter(10, '1.1.0') });
      expect(await toldBy(system, 'live')).toMatchObject({ version: '1.1.0', lives: 11 });
      expect(await rejection(system.upgrade('adder', { module: counter(1, '1.0.0') }))).toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('another thread'),
      });
    });
  });

  it('is one at a time, of an agent that there is, with options that there are', () =>
    withTeam({ agents: [{ module: version('adder-1') }] }, async (system) => {
      const module = version('adder-2');
      const { done } = await inHand(system, 100);
      const first = system.upgrade('adder', { module });
      expect((await rejection(system.upgrade('adder', { module }))).code).toBe('REFUSED');
      await Promise.all([first, done]);
      expect((await rejection(system.upgrade('nobody', { module }))).code).toBe('AGENT_NOT_FOUND');
      for (const options of [{ module: 'adder-2' }, { graceMs: -1 }, { fresh: 1 }, { other: true }])
        expect((await rejection(system.upgrade('adder', options as never))).code).toBe('INVALID_OPTIONS');
      expect((await rejection(system.upgrade('system/host'))).code).toBe('INVALID_OPTIONS');
      expect((await rejection(system.upgradeAll({} as never))).code).toBe('INVALID_OPTIONS');
      expect((await rejection(system.rollingRestart('adder' as never))).code).toBe('INVALID_OPTIONS');
    }));
});
