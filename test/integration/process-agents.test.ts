import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type System, type SystemEvent } from 'orrery';
import { z } from 'zod';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { anything, double, fail } from '../fixtures/agents/answers.ts';
import { askAnything } from '../fixtures/agents/asker.ts';
import { grow } from '../fixtures/agents/branches.ts';
import { count, endings, sum } from '../fixtures/agents/counting.ts';
import { compare, jam, open, passed } from '../fixtures/agents/gate.ts';
import { diary, HOPS, way } from '../fixtures/agents/hops.ts';
import { look } from '../fixtures/agents/insider.ts';
import { economise, follow, persist, tellBoth } from '../fixtures/agents/thrifty.ts';
import { childrenOf } from '../fixtures/processes.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const isolation = 'process' as const;
const folder = mkdtempSync(join(tmpdir(), 'orrery-processes-'));
const stops = join(folder, 'stops');
let system: System;

beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('counter', { isolation, instances: ['counter-p'] }),
      agent('counter', { instances: ['counter-t'] }),
      agent('gate', { isolation, instances: ['gate-p'] }),
      agent('gate', { instances: ['gate-t'] }),
      agent('hopper', { isolation, instances: ['p', 'q'] }),
      agent('hopper', { instances: ['t'] }),
      agent('branching', { isolation, instances: ['branch-p'] }),
      agent('branching', { instances: ['branch-t'] }),
      agent('answers', { isolation, instances: ['answers-p'] }),
      agent('asker', { isolation, instances: ['asker-p'] }),
      agent('thrifty', { isolation }),
      agent('insider', { isolation, permissions: { write: [folder] }, env: { STOPS: stops } }),
    ],
    supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
});
afterAll(async () => {
  await system.stop();
  expect(readFileSync(stops, 'utf8')).toBe('state of insider stops\n');
  expect(childrenOf(process.pid)).toEqual([]);
  rmSync(folder, { recursive: true });
});
afterEach(() =>
  until('everything is settled', async () => {
    const { holds, inFlight } = await system.conservation();
    return holds && inFlight === 0;
  }),
);

const rowOf = async (id: string) => (await system.roster()).find((row) => row.id === id);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

describe('An agent in a process of its own (F-06)', () => {
  it('is named after its process, whose number the roster gives', async () => {
    const row = await rowOf('insider');
    const { pid, state } = await system.ask({ agent: 'insider', capability: look }, undefined);
    expect(row).toMatchObject({ place: `process-${pid}`, pid, status: 'running', restarts: 0 });
    expect(state).toBe('state of insider');
  });

  it('has a process to itself, as each of its instances has', async () => {
    const rows = (await system.roster()).filter(({ pid }) => pid !== undefined);
    expect(rows.map(({ id }) => id)).toContain('q');
    const pids = rows.map(({ pid }) => pid as number);
    expect(childrenOf(process.pid).toSorted()).toEqual(pids.toSorted());
  });

  it('takes and answers what JSON cannot say, where its capability says so', async () => {
    const given = { at: new Date(1), counts: new Map([['a', 1]]), bytes: new Uint8Array([0, 1]), big: 3n };
    const answer = await system.ask({ agent: 'answers-p', capability: anything }, given);
    expect(answer).toEqual({
      at: new Date(2),
      counts: new Map([['a', 2]]),
      bytes: new Uint8Array([255, 254]),
      big: 9n,
    });
    const asked = await system.ask({ agent: 'asker-p', capability: askAnything }, { agent: 'answers-p' });
    expect(asked).toEqual([new Date(2).toISOString(), '[["a",2]]', '255,254', '9']);
  });

  it('parses what it is given by its own schema', async () => {
    const unchecked = { ...double, input: z.any() };
    const { code, message } = await rejection(
      system.ask({ agent: 'answers-p', capability: unchecked }, { n: 'two' }),
    );
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('n is "two", expected ');
    expect((await rowOf('answers-p'))?.restarts).toBe(0);
  });

  it('dies of what it throws, with its words, and is restarted in another process', async () => {
    const before = await rowOf('answers-p');
    const { code, message } = await rejection(
      system.ask({ agent: 'answers-p', capability: fail }, 'the last word'),
    );
    expect(code).toBe('HANDLER_FAILED');
    expect(message).toContain('the last word');
    const after = await until('it is back', async () => {
      const row = await rowOf('answers-p');
      return row?.status === 'running' && row.restarts > (before?.restarts ?? 0) && row;
    });
    expect(after.pid).not.toBe(before?.pid);
    expect(await system.ask({ agent: 'answers-p', capability: double }, { n: 2 })).toBe(4);
  });

  it('is ended from outside by the name of its process, and nobody is charged', async () => {
    const before = await rowOf('q');
    await system.terminate(before?.place as string);
    const after = await rowOf('q');
    expect(after).toMatchObject({ status: 'running', restarts: 1 });
    expect(after?.pid).not.toBe(before?.pid);
  });
});

describe('A state machine in a process of its own', () => {
  it('answers from actions, is done when it is ready, and asks others from what it invokes', async () => {
    const gate = (name: string) => ({ agent: name, capability: passed });
    expect(await system.ask(gate('gate-p'), undefined)).toEqual({ opened: 10, state: 'closed' });
    await system.ask({ agent: 'gate-p', capability: open }, undefined);
    expect(await system.ask(gate('gate-p'), undefined)).toEqual({ opened: 11, state: 'open' });
    expect(await system.ask({ agent: 'gate-t', capability: compare }, { of: 'gate-p' })).toBe(-1);
  });

  it('is restarted when an action throws', async () => {
    const { code, message } = await rejection(system.ask({ agent: 'gate-p', capability: jam }, undefined));
    expect(code).toBe('HANDLER_FAILED');
    expect(message).toContain('the gate is jammed');
    expect(await system.ask({ agent: 'gate-p', capability: passed }, undefined)).toEqual({
      opened: 10,
      state: 'closed',
    });
  });

  it('tells the steps of its machine while somebody watches, of each of its lives (F-08)', async () => {
    const steps: string[] = [];
    const stop = await system.inspect(({ type, agentId, machine, event, from, to }) => {
      if (type === 'machine-step' && agentId === 'gate-p' && machine === 'gate')
        steps.push(`${event}: ${from} to ${to}`);
    });
    const openings = (): string[] => steps.filter((step) => step.startsWith('gate.open: '));
    await system.ask({ agent: 'gate-p', capability: open }, undefined);
    await until('it has told of the step', () => openings().length === 1);
    await rejection(system.ask({ agent: 'gate-p', capability: jam }, undefined));
    await system.ask({ agent: 'gate-p', capability: open }, undefined);
    await until('its next life has told of it too', () => openings().length === 2);
    expect(openings()).toEqual(['gate.open: closed to opening', 'gate.open: closed to opening']);
    await stop();
  });
});

describe('A stream of a process', () => {
  it('is read in order, by the embedder and by an agent in a thread; and the other way round', async () => {
    const read: number[] = [];
    for await (const n of system.stream({ agent: 'counter-p', capability: count }, { upTo: 2_000 }))
      read.push(n);
    expect(read).toEqual(upTo(2_000));
    for (const [reader, from] of [
      ['counter-t', 'counter-p'],
      ['counter-p', 'counter-t'],
    ] as const) {
      const target = { agent: reader, capability: sum };
      expect(await system.ask(target, { agent: from, upTo: 1_000, most: 0 })).toBe(500_500);
      expect(await system.ask(target, { agent: from, upTo: 100_000, most: 10 })).toBe(55);
      await until('the one that was left has ended', async () =>
        (await system.ask({ agent: from, capability: endings }, undefined)).some((end) =>
          end.startsWith('CANCELLED'),
        ),
      );
    }
  });

  it('is at most 64 chunks ahead of its reader', async () => {
    let made = 0;
    const options = { onProgress: ({ note }: { note?: string }) => (made = Number(note)) };
    const stream = system.stream({ agent: 'counter-p', capability: count }, { upTo: 1_000 }, options);
    const reader = stream[Symbol.asyncIterator]();
    for (let read = 1; read <= 100; read++) await reader.next();
    await until('it is as far ahead as it gets', () => made > 131);
    await system.ask({ agent: 't', capability: diary }, undefined);
    expect(made).toBeLessThanOrEqual(165);
    await reader.return?.();
  });
});

describe('Call-backs of processes', () => {
  /** Two that wait for each other would wait for ever; hundreds of calls on a busy machine take as long as they take. */
  const HANGS_MS = 100_000;
  const walk = (text: string): Promise<string[]> => {
    const [first, ...rest] = way(text);
    const { agent: name, hop } = first as NonNullable<typeof first>;
    return system.ask({ agent: name, capability: HOPS[hop] }, { way: rest }, { timeoutMs: HANGS_MS });
  };

  it.each(['p.one q.two p.three', 'p.one t.two p.three', 't.one p.two t.three', 'p.one p.two p.three'])(
    'are answered while the agent waits: %s',
    async (text) => {
      expect(await walk(text)).toEqual(text.split(' '));
    },
  );

  it('do not wait for what was sent ahead: hundreds at once, to and fro', async () => {
    const ways = Array.from({ length: 300 }, (_, n) =>
      n % 2 === 0 ? 'p.one q.two p.three' : 'q.one p.two q.three',
    );
    expect(await Promise.all(ways.map(walk))).toEqual(ways.map((text) => text.split(' ')));
  });
});

describe('Cancellation and deadlines (F-04)', () => {
  it('reach the signal of a process, and what it has asked for', async () => {
    const said: string[] = [];
    const stop = await system.inspect(({ type, agentId, reason }: SystemEvent) => {
      if (type === 'progress') said.push(`${agentId}: ${reason}`);
    });
    const below = { agent: 'branch-t', note: 'below', outcome: 'wait' as const };
    const branch = { agent: 'branch-p', note: 'root', outcome: 'wait' as const, branches: [below] };
    const cancel = new AbortController();
    const target = { agent: 'branch-p', capability: grow };
    const asked = rejection(system.ask(target, branch, { signal: cancel.signal }));
    await until('both wait', () => said.includes('branch-t: begin below'));
    cancel.abort();
    expect((await asked).code).toBe('CANCELLED');
    await until('both have heard', () =>
      ['branch-p: CANCELLED root', 'branch-t: CANCELLED below'].every((line) => said.includes(line)),
    );
    said.length = 0;
    const late = rejection(system.ask(target, branch, { timeoutMs: 3_000 }));
    expect((await late).code).toBe('DEADLINE_EXCEEDED');
    await until('both have heard', () => said.filter((line) => /DEADLINE|CANCELLED/.test(line)).length === 2);
    expect(said).toContain('branch-p: DEADLINE_EXCEEDED root');
    await stop();
    expect((await rowOf('branch-p'))?.restarts).toBe(0);
  });
});

describe('What a context gives in a process', () => {
  it('is a budget that is counted by the host', async () => {
    const answer = await system.ask(economise, undefined, { budget: { tokens: 100 } });
    expect(answer).toEqual({
      first: { tokens: 100 },
      spent: { tokens: 70 },
      refunded: { tokens: 80 },
      code: 'BUDGET_EXCEEDED',
    });
  });

  it('is what an earlier life kept', async () => {
    expect(await system.ask(persist, undefined)).toEqual({ resumeFrom: 'step 1' });
  });

  it('is the result of each telling, a refusal too', async () => {
    expect(await system.ask(tellBoth, { to: 'nobody' })).toMatchObject([
      { delivered: false, errorCode: 'AGENT_NOT_FOUND' },
      { delivered: false, errorCode: 'NOT_SERIALISABLE' },
    ]);
  });

  it('is the progress and the id of what it asked for', async () => {
    const { sent, progress, answer } = await system.ask(follow, { of: 'branch-t' });
    expect(sent).toHaveLength(1);
    expect(progress).toEqual(['begin followed', 'end followed']);
    expect(answer).toHaveLength(1);
  });
});
