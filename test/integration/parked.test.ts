import type { System, SystemEvent } from 'orrery';
import { describe, expect, it } from 'vitest';
import { look } from '../fixtures/agents/versions/timing.ts';
import { rejection, until } from '../fixtures/until.ts';
import { rowOf, tellNumbers, toldBy, version, wholeSum, withTeam } from '../fixtures/upgrading.ts';

const HASH = /^[0-9a-f]{64}$/;

/** Upgrades the adder to a module that cannot go on with its state. */
const park = (system: System, name = 'adder-2-without') =>
  rejection(system.upgrade('adder', { module: version(name) }));

const adder = { module: version('adder-1') };

describe('An agent whose new code cannot go on with its state (F-10)', () => {
  it.each(['thread', 'inline', 'process'] as const)(
    'is parked, to be seen with the reason and both versions: %s',
    (isolation) =>
      withTeam({ agents: [{ ...adder, isolation }] }, async (system) => {
        const events: SystemEvent[] = [];
        await system.inspect((event) => events.push(event));
        tellNumbers(system, { last: 10 });
        const { code, message } = await park(system);
        expect(code).toBe('SNAPSHOT_UNKNOWN');
        expect(message).toContain('no migration leads from 1.0.0 to 2.0.0');
        const row = await rowOf(system);
        expect(row).toMatchObject({
          status: 'parked',
          version: '2.0.0',
          restarts: 0,
          lastError: message,
          parked: {
            reason: 'no migration leads from 1.0.0 to 2.0.0',
            from: { machineId: 'adder', version: '1.0.0', hash: expect.stringMatching(HASH) },
            to: { machineId: 'adder', version: '2.0.0', hash: expect.stringMatching(HASH) },
          },
        });
        expect(row?.parked?.from.hash).not.toBe(row?.parked?.to?.hash);
        await until('the event came', () => events.some(({ type }) => type === 'agent-parked'));
        expect(events.find(({ type }) => type === 'agent-parked')).toMatchObject({
          agentId: 'adder',
          errorCode: 'SNAPSHOT_UNKNOWN',
          reason: message,
        });
        await system.resume('adder', { module: version('adder-2') });
        expect(await toldBy(system)).toMatchObject({ version: '2.0.0', totals: { host: wholeSum(10) } });
        expect(await rowOf(system)).not.toHaveProperty('parked');
      }),
  );

  it('keeps its mail, up to the bound of its mailbox, and goes on with it when a module knows its state', () =>
    withTeam({ agents: [adder] }, async (system) => {
      tellNumbers(system, { last: 10 });
      // What waits when it is parked fills its mailbox too.
      await until('they are settled', async () => (await system.conservation()).inFlight === 0);
      await park(system);
      tellNumbers(system, { first: 11, last: 110 });
      expect(system.tell('adder', { from: 'host', n: 111 })).toMatchObject({ errorCode: 'MAILBOX_FULL' });
      await until('all of it waits', async () => (await rowOf(system))?.waiting === 100);
      expect((await rejection(system.resume('adder', { module: version('adder-2-failing') }))).code).toBe(
        'SNAPSHOT_UNKNOWN',
      );
      expect((await rowOf(system))?.status).toBe('parked');
      await system.resume('adder', { module: version('adder-2') });
      expect(await toldBy(system)).toEqual({ version: '2.0.0', lives: 2, totals: { host: wholeSum(110) } });
      expect(await system.conservation()).toMatchObject({ holds: true, rejected: 0, deadLettered: 0 });
      expect((await rowOf(system))?.status).toBe('running');
    }));

  it('is still parked when its thread has died, with its state and its mail', () =>
    withTeam({ agents: [adder] }, async (system) => {
      tellNumbers(system, { last: 10 });
      await park(system);
      tellNumbers(system, { first: 11, last: 20 });
      const { place = '' } = (await rowOf(system)) ?? {};
      await system.terminate(place);
      expect((await rowOf(system))?.status).toBe('parked');
      tellNumbers(system, { first: 21, last: 30 });
      await system.resume('adder', { module: version('adder-2') });
      expect(await toldBy(system)).toMatchObject({ totals: { host: wholeSum(30) } });
    }));

  it('goes back to the code that it came from, or goes on without its state, by choice', () =>
    withTeam({ agents: [adder] }, async (system) => {
      tellNumbers(system, { last: 10 });
      await park(system);
      await system.resume('adder', { module: version('adder-1') });
      expect(await toldBy(system)).toEqual({ version: '1.0.0', lives: 1, totals: { host: wholeSum(10) } });
      await park(system);
      await system.resume('adder', { fresh: true });
      expect(await toldBy(system)).toEqual({ version: '2.0.0', lives: 1, totals: {} });
    }));

  it('is parked with what a migration threw', () =>
    withTeam({ agents: [adder] }, async (system) => {
      tellNumbers(system, { last: 10 });
      const { code, message } = await park(system, 'adder-2-failing');
      expect(code).toBe('SNAPSHOT_UNKNOWN');
      expect(message).toContain('the migration from 1.x to 2.0.0 failed: the record is in disorder');
      expect((await rowOf(system))?.parked?.reason).toContain('the record is in disorder');
      await system.resume('adder', { module: version('adder-1') });
      expect(await toldBy(system)).toMatchObject({ totals: { host: wholeSum(10) } });
    }));

  it.each(['thread', 'process'] as const)(
    'does not lose its state when the new code does not start: %s',
    (isolation) =>
      withTeam({ agents: [{ ...adder, isolation }] }, async (system) => {
        tellNumbers(system, { last: 10 });
        const { message } = await park(system, 'adder-2-unstartable');
        expect(message).toContain('its start failed: no ink');
        expect(await rowOf(system)).toMatchObject({ status: 'parked', restarts: 0 });
        await system.resume('adder', { module: version('adder-2') });
        expect(await toldBy(system)).toMatchObject({ totals: { host: wholeSum(10) } });
      }),
  );

  it('says in a process what it says in a thread of a state that only its logic finds damaged (F-10)', () => {
    const one = (id: string) => ({ module: version('timer-1'), instances: [id] });
    const agents = [one('near'), { ...one('apart'), isolation: 'process' } as const];
    return withTeam({ agents }, async (system) => {
      const ends = ['near', 'apart'].map(async (id) => {
        const { code } = await rejection(system.upgrade(id, { module: version('timer-2-damaged') }));
        const { status, restarts, parked } = (await rowOf(system, id)) ?? {};
        return { code, status, restarts, parked };
      });
      const [near, apart] = await Promise.all(ends);
      expect(near).toMatchObject({ code: 'SNAPSHOT_UNKNOWN', status: 'parked', restarts: 0 });
      expect(near?.parked?.reason).toContain('null');
      expect(apart).toEqual(near);
      await system.resume('apart', { module: version('timer-2') });
      expect(await system.ask({ agent: 'apart', capability: look }, undefined)).toMatchObject({
        does: 'idle',
        version: '2.0.0',
      });
    });
  });

  it('stays parked when the module that is to go on cannot be loaded', () =>
    withTeam({ agents: [adder] }, async (system) => {
      tellNumbers(system, { last: 10 });
      const { message } = await park(system);
      const broken = new URL('../fixtures/agents/broken/throws.agent.ts', import.meta.url);
      expect((await rejection(system.resume('adder', { module: broken }))).code).toBe('MODULE_INVALID');
      expect(await rowOf(system)).toMatchObject({ status: 'parked', lastError: message });
      await system.resume('adder', { module: version('adder-2') });
      expect(await toldBy(system)).toMatchObject({ totals: { host: wholeSum(10) } });
    }));

  it('is neither restarted nor upgraded, but stopped: then what waits is dead-lettered, and a restart begins anew', () =>
    withTeam({ agents: [adder] }, async (system) => {
      tellNumbers(system, { last: 10 });
      await park(system);
      tellNumbers(system, { first: 11, last: 20 });
      expect((await rejection(system.restart('adder'))).code).toBe('REFUSED');
      expect((await rejection(system.upgrade('adder', { module: version('adder-2') }))).code).toBe('REFUSED');
      expect((await rejection(system.resume('adder', {}))).code).toBe('INVALID_OPTIONS');
      // An upgrade does not wait for what waits: of the first ten, too, some may be left for other code.
      const { handled } = await system.conservation();
      await system.stopAgent('adder');
      const counts = await until('all is settled', async () => {
        const { inFlight, ...rest } = await system.conservation();
        return inFlight === 0 && rest;
      });
      expect(counts).toMatchObject({ accepted: 20, handled, deadLettered: 20 - handled, holds: true });
      const letters = await system.deadLetters();
      expect(letters.map(({ envelope }) => envelope?.payload)).toEqual(
        Array.from({ length: 20 - handled }, (_, at) => ({ from: 'host', n: handled + 1 + at })),
      );
      expect((await rejection(system.resume('adder', { fresh: true }))).code).toBe('INVALID_OPTIONS');
      await system.restart('adder');
      expect(await toldBy(system)).toEqual({ version: '2.0.0', lives: 1, totals: {} });
    }));

  it('stops a rolling upgrade: those after it keep the code that they have', () =>
    withTeam({ agents: [{ ...adder, instances: ['a', 'b', 'c'] }] }, async (system) => {
      const results = await system.upgradeAll([
        { agentId: 'a', module: version('adder-2') },
        { agentId: 'b', module: version('adder-2-without') },
        { agentId: 'c', module: version('adder-2') },
      ]);
      expect(results).toMatchObject([
        { agentId: 'a', outcome: 'upgraded' },
        { agentId: 'b', outcome: 'parked', error: { code: 'SNAPSHOT_UNKNOWN' } },
        { agentId: 'c', outcome: 'skipped' },
      ]);
      const versions = await Promise.all(['a', 'b', 'c'].map((id) => rowOf(system, id)));
      expect(versions.map((row) => [row?.version, row?.status])).toEqual([
        ['2.0.0', 'running'],
        ['2.0.0', 'parked'],
        ['1.0.0', 'running'],
      ]);
    }));
});
