import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { count, dates, endings, oddly, sum } from '../fixtures/agents/counting.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

let system: System;

beforeAll(async () => {
  const inline = { isolation: 'inline' as const, instances: ['inline'] };
  system = await startSystem({
    agents: [
      agent('counter', { instances: ['near'] }),
      agent('counter', { instances: ['far'] }),
      agent('counter', { instances: ['beside'] }),
      agent('counter', inline),
    ],
    supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
});
afterAll(() => system.stop());
beforeEach(async () => {
  await Promise.all(['near', 'far', 'beside', 'inline'].map((name) => endingsOf(name)));
});

const endingsOf = (name: string): Promise<string[]> =>
  system.ask({ agent: name, capability: endings }, undefined);

const ending = (name: string): Promise<string> =>
  until(`a stream of ${name} ends`, async () => (await endingsOf(name))[0]);

async function readAll<Chunk>(stream: AsyncIterable<Chunk>, into: Chunk[] = []): Promise<Chunk[]> {
  for await (const chunk of stream) into.push(chunk);
  return into;
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

describe('A stream', () => {
  it.each(['near', 'far', 'inline'])('is read in order and to its end (%s)', async (name) => {
    expect(await readAll(system.stream({ agent: name, capability: count }, { upTo: 5_000 }))).toEqual(
      upTo(5_000),
    );
    expect(await endingsOf(name)).toEqual(['ended after 5000']);
  });

  it('may be empty', async () => {
    expect(await readAll(system.stream(count, { upTo: 0 }))).toEqual([]);
  });

  it("carries what JSON cannot say where its capability says carries: 'structured'", async () => {
    expect(await readAll(system.stream({ agent: 'far', capability: dates }, 100))).toEqual(
      upTo(100).map((at) => new Date(at)),
    );
  });

  it('is not asked for before it is read', async () => {
    const { accepted } = await system.conservation();
    system.stream(count, { upTo: 1 });
    expect((await system.conservation()).accepted).toBe(accepted);
  });

  it('lets the next envelope wait until it has ended', async () => {
    const reading = readAll(system.stream({ agent: 'near', capability: count }, { upTo: 500 }));
    expect(await endingsOf('near')).toEqual(['ended after 500']);
    expect(await reading).toHaveLength(500);
  });

  it.each([
    ['across threads', 'far'],
    ['within one thread', 'beside'],
  ])('is read by an agent too: %s', async (_, from) => {
    const target = { agent: 'near', capability: sum };
    expect(await system.ask(target, { agent: from, upTo: 1_000, most: 0 })).toBe(500_500);
    expect(await endingsOf(from)).toEqual(['ended after 1000']);
    expect(await system.ask(target, { agent: from, upTo: 100_000, most: 10 })).toBe(55);
    expect(await ending(from)).toMatch(/^CANCELLED after/);
  });
});

describe('Back-pressure', () => {
  it.each(['near', 'inline'])(
    'keeps the handler at most 64 chunks ahead of a slow reader (%s)',
    async (name) => {
      let made = 0;
      const stream = system.stream(
        { agent: name, capability: count },
        { upTo: 1_000 },
        { onProgress: ({ note }) => (made = Number(note)) },
      );
      const reader = stream[Symbol.asyncIterator]();
      for (let read = 1; read <= 200; read++) {
        expect(await reader.next()).toEqual({ value: read, done: false });
        if (read % 20 !== 0) continue;
        await until('the handler is as far ahead as it gets', () => made > read + 31);
        // What it made beyond that would be here by now: its progress travels the same way as this answer.
        await system.ask({ agent: 'beside', capability: endings }, undefined);
        expect(made).toBeLessThanOrEqual(read + 65);
      }
      await reader.return?.();
      expect(await ending(name)).toMatch(/^CANCELLED after 2\d\d$/);
    },
  );
});

describe('A stream that is left', () => {
  it.each(['near', 'far', 'inline'])('cancels its handler (F-04): %s', async (name) => {
    for await (const n of system.stream({ agent: name, capability: count }, { upTo: 1_000_000 }))
      if (n === 3) break;
    expect(await ending(name)).toMatch(/^CANCELLED after \d\d?$/);
  });

  it('cancels it when its signal aborts, and throws CANCELLED', async () => {
    const leave = new AbortController();
    const read: number[] = [];
    const reading = (async () => {
      for await (const n of system.stream(count, { upTo: 1_000_000 }, { signal: leave.signal })) {
        read.push(n);
        if (n === 100) leave.abort();
      }
    })();
    expect((await rejection(reading)).code).toBe('CANCELLED');
    expect(read.length).toBeGreaterThanOrEqual(100);
    expect(await ending('near')).toMatch(/^CANCELLED after/);
  });

  it('ends at its deadline when nobody reads on', async () => {
    const reader = system.stream(count, { upTo: 1_000_000 }, { timeoutMs: 2_000 })[Symbol.asyncIterator]();
    expect((await reader.next()).value).toBe(1);
    expect(await ending('near')).toMatch(/^DEADLINE_EXCEEDED after 6\d$/);
    const rest = (async () => {
      for (let next = await reader.next(); next.done !== true; next = await reader.next());
    })();
    expect((await rejection(rest)).code).toBe('DEADLINE_EXCEEDED');
  });
});

describe('A stream whose handler fails', () => {
  it.each(['near', 'far', 'inline'])(
    'gives what came before, then throws HANDLER_FAILED with the message: %s',
    async (name) => {
      const read: number[] = [];
      const reading = readAll(
        system.stream({ agent: name, capability: count }, { upTo: 3, ends: 'throws' }),
        read,
      );
      const { code, message } = await rejection(reading);
      expect(code).toBe('HANDLER_FAILED');
      expect(message).toContain('no more after 3');
      expect(read).toEqual([1, 2, 3]);
      expect(await readAll(system.stream({ agent: name, capability: count }, { upTo: 2 }))).toEqual([1, 2]);
    },
  );

  it('throws REFUSED when it declines, and the agent lives on', async () => {
    const read: number[] = [];
    const reading = readAll(system.stream(count, { upTo: 100, ends: 'declines' }), read);
    expect(await rejection(reading)).toEqual({ code: 'REFUSED', message: 'enough after 100' });
    expect(read).toHaveLength(100);
    expect(await endingsOf('near')).toEqual(['ended after 100']);
  });

  it('throws NOT_SERIALISABLE on a chunk that cannot cross, and its handler is cancelled', async () => {
    const read: number[] = [];
    const stream = system.stream({ agent: 'far', capability: oddly }, undefined);
    const reading = readAll(stream as AsyncIterable<number>, read);
    const { code, message } = await rejection(reading);
    expect(code).toBe('NOT_SERIALISABLE');
    expect(message).toContain('answer holds a bigint');
    expect(read).toEqual([1, 2]);
    expect(await ending('far')).toMatch(/^CANCELLED/);
  });

  it('throws what the router refuses', async () => {
    const reading = readAll(system.stream({ agent: 'nobody', capability: count }, { upTo: 1 }));
    expect((await rejection(reading)).code).toBe('AGENT_NOT_FOUND');
  });

  it('throws ACTOR_DIED when its thread dies in the middle', async () => {
    const read: number[] = [];
    let killed: Promise<void> | undefined;
    const reading = (async () => {
      for await (const n of system.stream({ agent: 'far', capability: count }, { upTo: 1_000_000 })) {
        read.push(n);
        if (n === 100) killed = system.terminate('worker-2');
      }
    })();
    expect((await rejection(reading)).code).toBe('ACTOR_DIED');
    await killed;
    expect(read).toEqual(upTo(read.length));
    expect(await readAll(system.stream({ agent: 'far', capability: count }, { upTo: 10 }))).toEqual(upTo(10));
  });
});

describe('Progress', () => {
  it('reaches the asker in order, and the recent events', async () => {
    const seen: [number, string | undefined][] = [];
    const stream = system.stream(
      { agent: 'far', capability: count },
      { upTo: 4 },
      { onProgress: ({ fraction, note }) => seen.push([fraction, note]) },
    );
    expect(await readAll(stream)).toEqual([1, 2, 3, 4]);
    expect(seen).toEqual([
      [0.25, '1'],
      [0.5, '2'],
      [0.75, '3'],
      [1, '4'],
    ]);
    const events = (await system.recentEvents()).filter(
      ({ type, agentId }) => type === 'progress' && agentId === 'far',
    );
    expect(events.slice(-4).map(({ fraction }) => fraction)).toEqual([0.25, 0.5, 0.75, 1]);
  });
});
