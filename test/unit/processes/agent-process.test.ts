import { describe, expect, it } from 'vitest';
import { AgentProcess, type ProcessEnd, type WorkFrame } from '../../../runtime/processes/agent-process.ts';
import { ProcessOptions } from '../../../runtime/agent/process-options.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FakeProcessSpawner, SMALLEST } from '../../fixtures/fake-process.ts';

const STARTING = { quietMs: 6_000, computeMs: 3_000 };

function started() {
  const clock = new FakeClock();
  const spawner = new FakeProcessSpawner();
  const options = ProcessOptions.parse({});
  const process = new AgentProcess('file:///agent.ts', options, { spawner, clock, starting: STARTING });
  const worked: WorkFrame[] = [];
  const ends: ProcessEnd[] = [];
  const listener = {
    isReady: true,
    onWork: (frame: WorkFrame) => {
      if (listener.isReady) worked.push(frame);
      return listener.isReady;
    },
    onFinding: () => undefined,
    onGone: (end: ProcessEnd) => {
      ends.push(end);
    },
  };
  return { clock, process, spawner, child: spawner.last, worked, ends, listener };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: Error) => error.message,
  );

/** A process whose agent runs. */
async function running() {
  const team = started();
  team.child.say({ t: 'loaded', description: SMALLEST });
  const start = team.process.start('smallest', team.listener);
  team.child.say({ t: 'ready' });
  await start;
  return team;
}

describe('The process of an agent', () => {
  it('is told to load, to start and to stop, and then ended', async () => {
    const { process, child, ends } = await running();
    expect((await process.description).options.id).toBe('smallest');
    const stopped = process.stop();
    child.say({ t: 'ended' });
    expect(await stopped).toBeUndefined();
    expect(child.isKilled).toBe(true);
    child.exit();
    await process.gone;
    expect(child.told.map(({ t }) => t)).toEqual(['load', 'start', 'stop']);
    expect(ends).toEqual([{ reason: 'its process ended', isCharged: true }]);
  });

  it('that cannot be started, or loaded, says why', async () => {
    const clock = new FakeClock();
    const spawner = {
      check: () => Promise.resolve(),
      spawn: () => {
        throw new Error('no more of them');
      },
    };
    const options = ProcessOptions.parse({});
    const never = new AgentProcess('file:///agent.ts', options, { spawner, clock, starting: STARTING });
    expect(await codeOf(never.description)).toBe('its process could not be started: no more of them');
    const { process, child } = started();
    child.say({ t: 'unloadable', reason: 'it exports no agent' });
    expect(await codeOf(process.description)).toBe('it exports no agent');
    expect(child.isKilled).toBe(true);
  });

  it.each([
    ['does nothing', 0, 'for 6 s it said nothing and used no processor time'],
    ['computes on and on', 500, 'it computed for 3 s without a pause'],
  ])('is ended when it loads its module and %s', async (_, cpuMs, why) => {
    const { process, child, clock } = started();
    for (let at = 1; at <= 13; at++) {
      child.used = { cpuMs: at * cpuMs, residentBytes: 0 };
      await clock.advanceAsync(500);
    }
    expect(child.isKilled).toBe(true);
    child.exit('its process was ended by SIGKILL');
    expect(await codeOf(process.description)).toBe(`loading file:///agent.ts did not end: ${why}`);
  });

  it('may load its module as slowly as it likes, as long as it gets on', async () => {
    const { process, child, clock } = started();
    for (let at = 1; at <= 100; at++) {
      child.used = { cpuMs: at * 25, residentBytes: 0 };
      await clock.advanceAsync(5_000);
    }
    expect(child.isKilled).toBe(false);
    child.say({ t: 'loaded', description: SMALLEST });
    expect((await process.description).options.id).toBe('smallest');
  });

  it('does everything that it said before it ended, and only then is gone', async () => {
    const { process, child, worked, ends, listener } = await running();
    listener.isReady = false;
    child.say({ t: 'begun', n: 1 });
    child.say({ t: 'done', n: 1, output: 'x' });
    child.exit();
    expect(ends).toEqual([]);
    listener.isReady = true;
    process.goOn();
    expect(worked.map(({ t }) => t)).toEqual(['begun', 'done']);
    expect(ends).toHaveLength(1);
    expect(process.isHeardOut).toBe(true);
  });

  it('is not read on while what it says has to wait and lies in heaps', async () => {
    const { process, child, listener, worked } = await running();
    listener.isReady = false;
    const output = 'x'.repeat(100_000);
    for (let n = 1; n <= 20; n++) child.say({ t: 'done', n, output });
    expect(child.isPaused).toBe(true);
    listener.isReady = true;
    process.goOn();
    expect(child.isPaused).toBe(false);
    expect(worked).toHaveLength(20);
  });

  it('is believed only what it may say by now, and nothing after what it may not', async () => {
    const early = started();
    early.child.say({ t: 'ready' });
    expect(early.child.isKilled).toBe(true);
    early.child.say({ t: 'loaded', description: SMALLEST });
    early.child.exit();
    expect(await codeOf(early.process.description)).toContain('its process broke the protocol');
    const { process, child, worked, ends } = await running();
    child.say({ t: 'loaded', description: SMALLEST });
    child.say({ t: 'done', n: 1 });
    child.exit('its process was ended by SIGKILL');
    expect(worked).toEqual([]);
    expect(ends).toEqual([
      { reason: 'its process broke the protocol: it said "child.loaded" out of turn', isCharged: true },
    ]);
    expect(process.isHeardOut).toBe(false);
  });

  it('that is ended keeps the first reason, and may say that it is ready too late', async () => {
    const { process, child, listener } = started();
    child.say({ t: 'loaded', description: SMALLEST });
    const start = codeOf(process.start('smallest', listener));
    process.end({ reason: 'the first', isCharged: false });
    process.end({ reason: 'the second', isCharged: true });
    child.say({ t: 'ready' });
    child.exit();
    expect(await start).toBe('the first');
    expect(await process.gone).toEqual({ reason: 'the first', isCharged: false });
  });

  it('is asked for one sign of life at a time', async () => {
    const { process, child } = await running();
    const { beat } = process;
    process.ping();
    process.ping();
    expect(child.told.filter(({ t }) => t === 'ping')).toHaveLength(1);
    child.say({ t: 'pong' });
    expect(process.beat).toBe(beat + 1);
    process.ping();
    expect(child.told.filter(({ t }) => t === 'ping')).toHaveLength(2);
  });
});
