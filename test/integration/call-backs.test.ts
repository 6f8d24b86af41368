import { defineAgent, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gauge, gush, pour } from '../fixtures/agents/gush.ts';
import { circle, diary, HOPS, way } from '../fixtures/agents/hops.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
let system: System;

beforeAll(async () => {
  // One after the other: a, c and e live in the first worker, b and d in the second.
  const gushers = ['y', 'x', 'y2', 'z'].map((name) => agent('gusher', { instances: [name] }));
  system = await startSystem({
    agents: [...NAMES.map((name) => agent('hopper', { instances: [name] })), ...gushers],
  });
});
afterAll(() => system.stop());
beforeEach(async () => {
  await Promise.all(NAMES.map((name) => diaryOf(name)));
});

const diaryOf = (name: string): Promise<string[]> =>
  system.ask({ agent: name, capability: diary }, undefined);

/** Walks `a.one b.two ...`, each asking the next. */
function walk(text: string): Promise<string[]> {
  const [first, ...rest] = way(text);
  if (first === undefined) throw new Error('an empty way');
  return system.ask({ agent: first.agent, capability: HOPS[first.hop] }, { way: rest });
}

describe('Call-backs', () => {
  it('are spread over two workers', async () => {
    const places = (await system.roster()).map(({ id, place }) => `${id} ${place}`);
    expect(places.slice(0, 5)).toEqual([
      'a worker-1',
      'b worker-2',
      'c worker-1',
      'd worker-2',
      'e worker-1',
    ]);
    expect(places.slice(5)).toEqual(['y worker-2', 'x worker-1', 'y2 worker-2', 'z worker-1']);
  });

  it.each([
    ['across threads', 'a.one b.two a.three'],
    ['within one thread', 'a.one c.two a.three'],
    ['to itself', 'a.one a.two a.three'],
    ['over a third agent', 'a.one b.two c.one a.four'],
    ['three deep', 'a.one b.one a.two b.two a.three b.three'],
    ['three deep within one thread', 'a.one c.one a.two c.two a.three c.three'],
    ['to one further up, past one that waits too', 'a.one b.one c.one b.two a.two c.two'],
  ])('are answered while the agent waits: %s', async (_, text) => {
    expect(await walk(text)).toEqual(text.split(' '));
  });

  it('are handled in the middle of the handler that waits, and nothing else is', async () => {
    const asked = walk('a.one b.one a.two');
    const unrelated = walk('a.three');
    await Promise.all([asked, unrelated]);
    expect(await diaryOf('a')).toEqual([
      'begin one',
      'begin two',
      'end two',
      'end one',
      'begin three',
      'end three',
    ]);
  });

  it('that are told are handled too', async () => {
    const asked = system.ask({ agent: 'a', capability: HOPS.one }, { way: way('b.one a.two'), by: 'tell' });
    expect(await asked).toEqual(['a.one']);
    await until('the tell arrives', async () => (await diaryOf('a')).includes('end two'));
  });

  it('answer a hundred at once', async () => {
    const ways = Array.from({ length: 100 }, (_, n) =>
      n % 2 === 0 ? 'a.one b.two a.three' : 'c.one d.two c.three',
    );
    expect(await Promise.all(ways.map((text) => walk(text)))).toEqual(ways.map((text) => text.split(' ')));
  });
});

describe('A call-back that was caused by something else than what the agent waits for', () => {
  it('waits until the agent is done', async () => {
    const log: string[] = [];
    const gates = { answer: Promise.withResolvers<void>(), callBack: Promise.withResolvers<void>() };
    const define = (id: string) => defineAgent({ id, name: id, version: '1.0.0', description: id, tier: 2 });
    const one = define('one')
      .handle(HOPS.one, (_, ctx) => {
        ctx.tell({ agent: 'two', capability: HOPS.two }, { way: [] });
        return [];
      })
      .handle(HOPS.three, async (_, ctx) => {
        log.push('begin three');
        await ctx.ask({ agent: 'three', capability: HOPS.three }, { way: [] });
        log.push('end three');
        return [];
      })
      .handle(HOPS.four, () => {
        log.push('call-back');
        return [];
      });
    const two = define('two')
      .handle(HOPS.two, async (_, ctx) => {
        await gates.callBack.promise;
        ctx.tell({ agent: 'one', capability: HOPS.four }, { way: [] });
        return [];
      })
      .handle(HOPS.one, () => []);
    const three = define('three').handle(HOPS.three, async () => {
      await gates.answer.promise;
      return [];
    });
    const own = await startSystem({ agents: [one, two, three] });
    try {
      const ask = (to: string, hop: 'one' | 'three') =>
        own.ask({ agent: to, capability: HOPS[hop] }, { way: [] });
      await ask('one', 'one');
      const waiting = ask('one', 'three');
      await until('it waits', () => log.length === 1);
      gates.callBack.resolve();
      // It answers this after it has told, and what it told has arrived by then.
      await ask('two', 'one');
      gates.answer.resolve();
      await waiting;
      await until('the call-back is handled', () => log.length === 3);
      expect(log).toEqual(['begin three', 'end three', 'call-back']);
    } finally {
      await own.stop();
    }
  });
});

describe('Two agents that ask each other at the same time', () => {
  it.each([
    ['across threads', 'a', 'b'],
    ['within one thread', 'a', 'c'],
  ])('both get their answers: %s', async (_, one, other) => {
    const asks = Array.from({ length: 50 }, () => [
      walk(`${one}.one ${other}.two`),
      walk(`${other}.one ${one}.two`),
    ]);
    const answers = await Promise.all(asks.flat());
    expect(answers).toHaveLength(100);
  });

  it.each([
    ['across threads', 'a', 'b'],
    ['within one thread', 'a', 'c'],
  ])('and are called back: %s', async (_, one, other) => {
    const asks = Array.from({ length: 50 }, () => [
      walk(`${one}.one ${other}.two ${one}.three`),
      walk(`${other}.one ${one}.two ${other}.three`),
    ]);
    const answers = await Promise.all(asks.flat());
    expect(answers).toHaveLength(100);
  });
});

describe('Two agents that flood each other (F-12)', () => {
  const gaugeOf = (name: string) => system.ask({ agent: name, capability: gauge }, undefined);

  it.each([
    ['across threads', 'x', 'y'],
    ['within one thread', 'x', 'z'],
  ])('go on, are told what did not fit, and are through in the end: %s', async (_, one, other) => {
    const before = await Promise.all([gaugeOf(one), gaugeOf(other)]);
    for (const [name, to] of [
      [one, other],
      [other, one],
    ] as const) {
      system.tell({ agent: name, capability: gush }, { to, fan: 3, left: 9 });
    }
    const through = await until('everything is settled', async () => {
      const now = await system.conservation();
      return now.inFlight === 0 && now;
    });
    expect(through.holds).toBe(true);
    const after = await Promise.all([gaugeOf(one), gaugeOf(other)]);
    const grown = (key: 'handled' | 'sent' | 'refused') =>
      after.reduce((sum, now, at) => sum + now[key] - (before[at]?.[key] ?? 0), 0);
    expect(grown('handled')).toBe(grown('sent') + 2);
    expect(grown('refused')).toBeGreaterThan(0);
  });

  it.each([
    ['across threads', 'x', 'y'],
    ['within one thread', 'x', 'z'],
  ])('and wait for room are stopped by their deadline, and live on: %s', async (_, one, other) => {
    const pouring = (agentId: string, to: string) =>
      rejection(
        system.ask({ agent: agentId, capability: pour }, { to, count: 1_000_000 }, { timeoutMs: 500 }),
      );
    const codes = await Promise.all([pouring(one, other), pouring(other, one)]);
    expect(codes.map(({ code }) => code)).toEqual(['DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED']);
    expect(await system.ask({ agent: one, capability: pour }, { to: other, count: 1_000 })).toBe(1_000);
    expect(await system.ask({ agent: other, capability: pour }, { to: one, count: 1_000 })).toBe(1_000);
  });
});

describe('The path guard (F-05)', () => {
  it.each(['a.one b.two a.one', 'a.one c.two a.one', 'a.one b.two c.three b.two', 'a.one a.one'])(
    'refuses the same work further down the path with PATH_LOOP, before any of it: %s',
    async (text) => {
      const { code, message } = await rejection(walk(text));
      expect(code).toBe('PATH_LOOP');
      const last = text.split(' ').at(-1) as string;
      const [name, hop] = last.split('.') as [string, string];
      expect(message).toContain(`${name} already works on "hops.${hop}"`);
      const begun = (await diaryOf(name)).filter((line) => line === `begin ${hop}`);
      expect(begun).toHaveLength(1);
    },
  );

  it.each([
    ['across threads', 'b'],
    ['within one thread', 'c'],
  ])('refuses streams that run in circles too: %s', async (_, other) => {
    const read = async (): Promise<void> => {
      for await (const _chunk of system.stream({ agent: 'a', capability: circle }, { other }));
    };
    expect((await rejection(read())).code).toBe('PATH_LOOP');
    expect(await diaryOf('a')).toEqual(['begin circle']);
    expect(await diaryOf(other)).toEqual(['begin circle']);
  });

  it('lets the same agent do other work, and the same work be done by another', async () => {
    expect(await walk('a.one b.one a.two b.two')).toHaveLength(4);
  });

  it('lets the same work be done twice, one after the other', async () => {
    await walk('a.one b.two');
    expect(await walk('a.one b.two')).toEqual(['a.one', 'b.two']);
  });

  it('refuses a path of more than 16 hops with HOP_LIMIT, and allows 16', async () => {
    const steps = ['one', 'two', 'three', 'four'].flatMap((hop) => NAMES.map((name) => `${name}.${hop}`));
    expect(await walk(steps.slice(0, 16).join(' '))).toHaveLength(16);
    const { code, message } = await rejection(walk(steps.slice(0, 17).join(' ')));
    expect(code).toBe('HOP_LIMIT');
    expect(message).toContain('16');
  });
});
