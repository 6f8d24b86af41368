import { type AgentDefinition, capability, defineAgent } from 'orrery';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LonePlace } from '../../fixtures/lone-place.ts';
import { rejection, until } from '../../fixtures/until.ts';

/** Answers which code does it, after a promise that the test holds. */
const work = capability({ id: 'work', description: 'Works', input: z.string(), output: z.string() });

interface Gates {
  readonly work: PromiseWithResolvers<void>;
  readonly start: PromiseWithResolvers<void>;
  readonly stop: PromiseWithResolvers<void>;
}
const opened = (): PromiseWithResolvers<void> => {
  const gate = Promise.withResolvers<void>();
  gate.resolve();
  return gate;
};

/** What the two versions did, in order. */
let done: string[] = [];
let gates: Gates;
const open: LonePlace[] = [];

afterEach(() => {
  for (const { host } of open.splice(0)) host.close();
});

const versionOf = (version: string, keeps = z.object({ by: z.string() })): AgentDefinition<unknown> =>
  defineAgent({ id: 'agent', name: 'AGENT', version: `${version}.0.0`, description: 'Works', tier: 2 })
    .onStart(async () => {
      done.push(`${version} starts`);
      await gates.start.promise;
      return { by: version };
    })
    .onStop(async () => {
      done.push(`${version} stops`);
      await gates.stop.promise;
    })
    .keepsState(keeps)
    .handle(work, async (what, ctx) => {
      done.push(`${version} ${what}`);
      if (what === 'fail') throw new Error('it fails');
      await gates.work.promise;
      return `${version} of ${ctx.state.by}`;
    }) as AgentDefinition<unknown>;

const MODULES = {
  first: versionOf('1'),
  second: versionOf('2'),
  strange: versionOf('3', z.object({ by: z.string(), more: z.string() }) as never),
  broken: versionOf('4').onStart(() => {
    throw new Error('no ink');
  }) as AgentDefinition<unknown>,
};

async function running(): Promise<LonePlace> {
  done = [];
  gates = { work: opened(), start: opened(), stop: opened() };
  const place = new LonePlace(MODULES);
  open.push(place);
  await place.take('first');
  place.control({ t: 'start', slots: [0] });
  await place.hears('started');
  return place;
}

/** With something in hand that ends when `gates.work` opens. */
async function busy(): Promise<{ place: LonePlace; inHand: Promise<string> }> {
  const place = await running();
  gates = { ...gates, work: Promise.withResolvers() };
  const inHand = place.ask(work, 'slowly');
  inHand.catch(() => undefined);
  await until('it is in hand', () => done.includes('1 slowly'));
  return { place, inHand };
}

const start = { t: 'start', slots: [0] } as const;
const halt = { t: 'halt', slots: [0] } as const;
const stop = { t: 'stop', slots: [0] } as const;

describe('A cell whose code changes', () => {
  it('is done with what is in hand, then begins on what waits, with the state', async () => {
    const { place, inHand } = await busy();
    place.change('second');
    const waits = place.ask(work, 'next');
    await until('it takes nothing new', () => place.status === 'finishing');
    gates.work.resolve();
    expect(await inHand).toBe('1 of 1');
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'running' });
    expect(await waits).toBe('2 of 1');
    expect(done).toEqual(['1 starts', '1 slowly', '1 stops', '2 starts', '2 next']);
  });

  it('has one actor at a time, whatever its supervisor orders meanwhile', async () => {
    const place = await running();
    gates = { ...gates, stop: Promise.withResolvers() };
    place.change('second');
    await until('the old one stops', () => place.status === 'changing');
    for (const order of [halt, start, start]) place.control(order);
    gates.stop.resolve();
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'running' });
    place.control(start);
    expect(await place.ask(work, 'next')).toBe('2 of 1');
    expect(done).toEqual(['1 starts', '1 stops', '2 starts', '2 next']);
  });

  it('waits for a start that is under way', async () => {
    const place = await running();
    gates = { ...gates, start: Promise.withResolvers() };
    place.control(halt);
    place.control(start);
    place.change('second');
    await until('it starts again', () => done.filter((one) => one === '1 starts').length === 2);
    gates.start.resolve();
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'running' });
    expect(done).toEqual(['1 starts', '1 stops', '1 starts', '1 stops', '2 starts']);
  });

  it('has the new code from the next start on when its actor dies over what is in hand', async () => {
    const { place } = await busy();
    place.change('second');
    await until('it takes nothing new', () => place.status === 'finishing');
    gates.work.reject(new Error('too heavy'));
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'later' });
    expect(await place.hears('crashed')).toMatchObject({ reason: 'too heavy', charged: true });
    gates = { ...gates, work: opened() };
    const waits = place.ask(work, 'next');
    place.control(start);
    expect(await waits).toBe('2 of 2');
  });

  it.each(['finishing', 'changing'])('stays stopped when it is stopped while it is %s', async (status) => {
    const { place, inHand } = await busy();
    gates = { ...gates, stop: Promise.withResolvers() };
    place.change('second');
    await until('it takes nothing new', () => place.status === 'finishing');
    if (status === 'changing') gates.work.resolve();
    await until(`it is ${status}`, () => place.status === status);
    place.control(stop);
    gates.stop.resolve();
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'later' });
    await place.hears('ended');
    expect(place.status).toBe('stopped');
    if (status === 'finishing') expect((await rejection(inHand)).code).toBe('NOT_HERE');
    expect(done.filter((one) => one.startsWith('2'))).toEqual([]);
  });

  it('that is parked is not started by an order that was given before', async () => {
    const place = await running();
    place.change('strange');
    expect((await place.hears('changed')).changed).toMatchObject({
      outcome: 'parked',
      snapshot: { version: '1.0.0', state: { by: '1' } },
      why: { code: 'SNAPSHOT_UNKNOWN' },
    });
    const waits = place.ask(work, 'next');
    for (const order of [halt, start]) place.control(order);
    expect(place.status).toBe('parked');
    expect(place.isSilentAbout('started')).toBe(true);
    const snapshot = {
      agentId: 'agent',
      machineId: 'agent',
      version: '1.0.0',
      hash: '',
      state: { by: '1' },
      atMs: 0,
    };
    place.change('second', { resumed: { snapshot } });
    expect((await place.hears('changed')).changed).toMatchObject({ outcome: 'parked' });
    place.change('first', { resumed: { snapshot: undefined } });
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'running' });
    expect(await waits).toBe('1 of 1');
  });

  it('without a state dies like any other when the new code does not start', async () => {
    const place = await running();
    place.change('broken', { isFresh: true });
    expect(await place.hears('crashed')).toMatchObject({ reason: 'no ink', charged: true });
    expect((await place.hears('changed')).changed).toEqual({ outcome: 'later' });
    expect(place.status).toBe('down');
  });

  it('goes on with the old code when the new cannot be had', async () => {
    const place = await running();
    place.change('file:///nowhere.js');
    expect(await place.hears('changed')).toMatchObject({
      changed: undefined,
      error: { code: 'MODULE_INVALID' },
    });
    expect(await place.ask(work, 'next')).toBe('1 of 1');
  });
});
