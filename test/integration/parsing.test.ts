import { defineAgent, startSystem, type System } from 'orrery';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  endless,
  filled,
  history,
  listed,
  machineFilled,
  pass,
  said,
  sendOdd,
  WAYS,
} from '../fixtures/agents/parsing.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

let system: System;

beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('parser'),
      agent('passer', { instances: ['far'] }),
      agent('passer', { instances: ['near'] }),
      agent('parsing-machine', { instances: ['far-machine'] }),
      agent('parsing-machine', { instances: ['machine'] }),
      agent('parser', { instances: ['inline'], isolation: 'inline' as const }),
      defineAgent({ id: 'listener', name: 'L', version: '1.0.0', description: 'Listens', tier: 2 }).on(
        'stream-start',
        () => 1,
      ),
    ],
  });
});
afterAll(() => system.stop());
afterEach(async () => {
  const died = (await system.roster()).filter(({ restarts }) => restarts !== 0);
  expect(died).toEqual([]);
});

type Way = Parameters<typeof passed>[1];

const passed = (
  from: string,
  way: { agent: string; what: keyof typeof WAYS; how?: 'ask' | 'stream' | 'tell'; odd?: 'NaN' | 'Map' },
  payload: unknown,
) => system.ask({ agent: from, capability: pass }, { how: 'ask', ...way, payload });

const outcomes = async () =>
  until('all are settled', async () => {
    const now = await system.conservation();
    return now.inFlight === 0 && now.holds && now;
  });

const ways: [string, string, Way][] = [
  ['a handler across threads', 'far', { agent: 'parser', what: 'filled' }],
  ['a handler in the same thread', 'near', { agent: 'parser', what: 'filled' }],
  ['an inline handler', 'near', { agent: 'inline', what: 'filled' }],
  ['XState logic across threads', 'far', { agent: 'machine', what: 'machineFilled' }],
  ['XState logic in the same thread', 'near', { agent: 'machine', what: 'machineFilled' }],
];

it('places its agents in both workers', async () => {
  const places = new Map((await system.roster()).map(({ id, place }) => [id, place]));
  expect(places.get('near')).toBe(places.get('parser'));
  expect(places.get('far')).not.toBe(places.get('parser'));
  expect(places.get('near')).toBe(places.get('machine'));
});

describe('What is handled', () => {
  it.each(ways)('is what the schema makes of the payload: %s', async (_, from, way) => {
    expect(await passed(from, way, { text: 'moon' })).toEqual({ value: { n: 3, text: 4 } });
    expect(await passed(from, way, { n: 7, text: '', more: 1 })).toEqual({ value: { n: 7, text: 0 } });
  });

  it.each(ways)(
    'is never what does not fit: it is rejected, naming field and value: %s',
    async (_, from, way) => {
      const before = await outcomes();
      const { code, message } = await passed(from, way, { n: 's', text: 'moon' });
      expect(code).toBe('INVALID_PAYLOAD');
      expect(message).toBe(`The payload does not fit "${WAYS[way.what].id}": n is "s", expected a number`);
      expect(await passed(from, { ...way, how: 'tell' }, { n: 's', text: 'moon' })).toEqual({ value: true });
      const after = await outcomes();
      expect(after.rejected - before.rejected).toBe(2);
      expect(after.deadLettered).toBe(before.deadLettered);
    },
  );

  it.each(['far', 'near'])('is parsed for a stream too (%s)', async (from) => {
    const way = { agent: 'parser', what: 'listed', how: 'stream' } as const;
    expect(await passed(from, way, { items: [1, 2] })).toEqual({ value: [10, 20] });
    const { code, message } = await passed(from, way, { items: 'none' });
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('items is "none", expected a list');
  });

  it('is parsed once: what the embedder sends is checked at once, and crosses as it was given', async () => {
    expect(await system.ask(filled, { text: 'moon' })).toEqual({ n: 3, text: 4 });
    expect(await system.ask(machineFilled, { text: 'moon' })).toEqual({ n: 3, text: 4 });
    const { accepted } = await outcomes();
    const { code, message } = await rejection(system.ask(filled, { text: 4 as never }));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('text is 4, expected a text');
    expect((await outcomes()).accepted).toBe(accepted);
  });

  it.each(ways)('is neither NaN nor a Map where the schema has none: %s', async (_, from, way) => {
    expect((await passed(from, { ...way, odd: 'NaN' }, undefined)).message).toMatch(
      /n is (NaN|null), expected a number/,
    );
    expect((await passed(from, { ...way, odd: 'Map' }, undefined)).message).toContain(
      'text is missing, expected a text',
    );
  });
});

describe('What JSON cannot carry, where no schema refuses it', () => {
  it('arrives changed in another thread, as docs/semantics/payloads.md says', async () => {
    expect(await system.ask({ agent: 'far', capability: sendOdd }, { agent: 'parser' })).toEqual({
      NaN: 'null',
      'minus zero': '0',
      'a Date': "'1970-01-01T00:00:00.000Z'",
      'a Map': '{}',
      'an Error': '{}',
      'a Promise': '{}',
      bytes: "{ '0': 7 }",
      undefined: 'undefined',
      'a function': 'null',
      'in an array': '[ null, null ]',
      'in a field': '{ n: 1 }',
      'a bigint': 'NOT_SERIALISABLE',
    });
  });

  it("is the sender's own object in the same thread", async () => {
    const got = await system.ask({ agent: 'near', capability: sendOdd }, { agent: 'parser' });
    expect(got).toMatchObject({
      NaN: 'NaN',
      'minus zero': '-0',
      'a Date': '1970-01-01T00:00:00.000Z',
      'a Map': 'Map(1) { 1 => 2 }',
      'a Promise': 'Promise { 1 }',
      bytes: 'Uint8Array(1) [ 7 ]',
      'a function': '[Function (anonymous)]',
      'in an array': '[ undefined, [Function (anonymous)] ]',
      'a bigint': '1n',
    });
  });
});

describe('An answer', () => {
  const saying: [string, string, Way][] = ways.map(([name, from, { agent: whom, what }]) => [
    name,
    from,
    { agent: whom, what: what === 'filled' ? 'said' : 'machineSaid' },
  ]);

  it.each(saying)('is what the schema makes of it: %s', async (_, from, way) => {
    expect(await passed(from, way, { n: 1, extra: 1 })).toEqual({ value: { n: 1, note: 4 } });
    expect(await passed(from, way, { n: 1, note: '' })).toEqual({ value: { n: 1, note: 0 } });
  });

  it.each(saying)('that does not fit is REFUSED, and its envelope rejected: %s', async (_, from, way) => {
    const before = await outcomes();
    const { code, message } = await passed(from, way, { n: 'not a number', extra: 1 });
    expect(code).toBe('REFUSED');
    expect(message).toBe(
      `The answer of ${way.agent} does not fit "${WAYS[way.what].id}": ` +
        'n is "not a number", expected a number',
    );
    const after = await outcomes();
    expect(after.rejected - before.rejected).toBe(1);
    expect(after.handled - before.handled).toBe(1);
  });

  it('that nobody waits for is not looked at', async () => {
    const before = await outcomes();
    expect(system.tell(said, 'anything')).toMatchObject({ delivered: true });
    const after = await outcomes();
    expect(after.handled - before.handled).toBe(1);
  });

  it.each(['far', 'near'])('that is a chunk cuts its stream off (%s)', async (from) => {
    const before = await outcomes();
    const way = { agent: 'parser', what: 'listed', how: 'stream' } as const;
    const { code, message } = await passed(from, way, { items: [1, 2.5, 3] });
    expect(code).toBe('REFUSED');
    expect(message).toContain('The answer of parser does not fit "parsing.listed": it is 2.5, expected ');
    expect((await outcomes()).rejected - before.rejected).toBe(1);
  });
});

describe('The wrong way to ask', () => {
  it.each(['parser', 'inline'])('reading what is one value is REFUSED (%s)', async (name) => {
    const stream = system.stream({ agent: name, capability: filled }, { text: '' });
    const { code, message } = await rejection(stream[Symbol.asyncIterator]().next());
    expect(code).toBe('REFUSED');
    expect(message).toBe(`${name} answers "parsing.filled" with one value: ask for it with ask()`);
  });

  it('is REFUSED by XState logic too', async () => {
    const stream = system.stream(machineFilled, { text: '' });
    const { code, message } = await rejection(stream[Symbol.asyncIterator]().next());
    expect(code).toBe('REFUSED');
    expect(message).toContain('"machine.filled"');
  });

  it.each(['parser', 'inline'])('asking for what is a stream is REFUSED (%s)', async (name) => {
    const { code, message } = await rejection(
      system.ask({ agent: name, capability: listed }, { items: [1] }),
    );
    expect(code).toBe('REFUSED');
    expect(message).toBe(`${name} answers "parsing.listed" with a stream: read it with stream()`);
  });

  it('reading is REFUSED where a handler of envelopes answers with a value', async () => {
    const stream = system.stream({ agent: 'listener', capability: endless }, undefined);
    const { code, message } = await rejection(stream[Symbol.asyncIterator]().next());
    expect(code).toBe('REFUSED');
    expect(message).toContain('listener answers "parsing.endless" with one value');
  });

  it('between agents likewise', async () => {
    const asked = await passed('far', { agent: 'parser', what: 'listed' }, { items: [] });
    expect(asked.code).toBe('REFUSED');
    const read = await passed('near', { agent: 'parser', what: 'filled', how: 'stream' }, { text: '' });
    expect(read.code).toBe('REFUSED');
  });
});

describe('A stream whose reader', () => {
  const endOf = (name: string, before: number): Promise<string> =>
    until(`the stream of ${name} ends`, async () => {
      const { ends } = await system.ask({ agent: name, capability: history }, undefined);
      return ends[before];
    });
  const endsSoFar = async (name: string): Promise<number> =>
    (await system.ask({ agent: name, capability: history }, undefined)).ends.length;

  it.each(['parser', 'inline'])('takes nothing is cut off after handlingTimeoutMs (%s)', async (name) => {
    const before = await endsSoFar(name);
    const reader = system.stream({ agent: name, capability: endless }, undefined)[Symbol.asyncIterator]();
    const startedMs = performance.now();
    await reader.next();
    expect(await endOf(name, before)).toBe('DEADLINE_EXCEEDED');
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    const rest = (async () => {
      for (let next = await reader.next(); next.done !== true; next = await reader.next());
    })();
    const { code, message } = await rejection(rest);
    expect(code).toBe('DEADLINE_EXCEEDED');
    expect(message).toMatch(/^The reader of the stream .+ took nothing from it within 1000 ms$/);
  });

  it.each(['parser', 'inline'])('takes one now and then is not cut off (%s)', async (name) => {
    const before = await endsSoFar(name);
    const stream = system.stream({ agent: name, capability: endless }, undefined);
    const read: number[] = [];
    for await (const n of stream) {
      read.push(n);
      if (read.length === 12) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(read).toEqual(Array.from({ length: 12 }, (_, n) => n));
    expect(await endOf(name, before)).toBe('CANCELLED');
  });
});
