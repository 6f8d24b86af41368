import { startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { double } from '../fixtures/agents/answers.ts';
import { close, compare, jam, leave, lock, open, passed } from '../fixtures/agents/gate.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

let system: System;

beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('gate'),
      agent('transient-gate'),
      agent('gate', { instances: ['inline-gate'], isolation: 'inline' as const }),
      agent('gate', { instances: ['far-gate'] }),
      agent('tally'),
    ],
    supervision: { intensity: { maxRestarts: 100 }, backOff: { firstMs: 1, maxMs: 1 } },
  });
});
afterAll(() => system.stop());

const at = (name: string) => ({
  open: (timeoutMs = 60_000) => system.ask({ agent: name, capability: open }, undefined, { timeoutMs }),
  close: () => system.ask({ agent: name, capability: close }, undefined),
  lock: () => system.ask({ agent: name, capability: lock }, undefined),
  jam: () => system.ask({ agent: name, capability: jam }, undefined),
  leave: () => system.ask({ agent: name, capability: leave }, undefined),
  passed: () => system.ask({ agent: name, capability: passed }, undefined),
});

const statusOf = async (name: string) => (await system.roster()).find(({ id }) => id === name);

describe.each(['gate', 'inline-gate'])('An agent that is a state machine: %s', (name) => {
  const gate = at(name);

  it('answers from an action; what onStart returned is its input', async () => {
    expect(await gate.passed()).toEqual({ opened: 10, state: 'closed' });
  });

  it('has handled an envelope when it reaches a state tagged ready, after a delay too', async () => {
    const startedMs = performance.now();
    const opening = gate.open();
    const later = gate.passed();
    expect(await opening).toBeUndefined();
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(45);
    expect(await later).toEqual({ opened: 11, state: 'open' });
    expect(await gate.close()).toBeUndefined();
  });

  it('has handled it when it settles, and may go on moving', async () => {
    // It is locking for a moment only: while it opens, all of that is there already, and is handled in one go.
    const [, , locked, meanwhile] = await Promise.all([
      gate.open(),
      gate.close(),
      gate.lock(),
      gate.passed(),
    ]);
    expect(locked).toBeUndefined();
    expect(meanwhile).toEqual({ opened: 12, state: 'locking' });
    await until('it is closed again', async () => (await gate.passed()).state === 'closed');
  });

  it('asks other agents from what it invokes, and answers when that is done', async () => {
    await at('far-gate').open();
    await at('far-gate').open();
    const { opened } = await at('far-gate').passed();
    const difference = await system.ask({ agent: name, capability: compare }, { of: 'far-gate' });
    expect(difference).toBe(12 - opened);
    await at('far-gate').close();
  });

  it('is restarted when an action throws: the asker gets HANDLER_FAILED with the message', async () => {
    await gate.open();
    const { code, message } = await rejection(gate.jam());
    expect(code).toBe('HANDLER_FAILED');
    expect(message).toContain('the gate is jammed');
    expect(await gate.passed()).toEqual({ opened: 10, state: 'closed' });
  });

  it('forgets what it was about to do when it is restarted', async () => {
    await gate.lock();
    expect((await rejection(gate.jam())).code).toBe('HANDLER_FAILED');
    expect(await gate.passed()).toEqual({ opened: 10, state: 'closed' });
    await gate.open();
    expect(await gate.passed()).toEqual({ opened: 11, state: 'open' });
    await gate.close();
  });

  it('is cut off at the deadline of an envelope that it does not get done, and restarted', async () => {
    const { code } = await rejection(gate.open(10));
    expect(code).toBe('DEADLINE_EXCEEDED');
    expect((await gate.passed()).opened).toBeGreaterThanOrEqual(10);
  });
});

describe('A machine that comes to its end', () => {
  it('is started again if its agent is permanent; what it had in hand is handled', async () => {
    await at('gate')
      .close()
      .catch(() => undefined);
    expect(await at('gate').leave()).toBeUndefined();
    expect(await at('gate').passed()).toEqual({ opened: 10, state: 'closed' });
  });

  it('is not if its agent is transient: it is stopped, and says so to whoever asks', async () => {
    expect(await at('transient-gate').leave()).toBeUndefined();
    await until('it is stopped', async () => (await statusOf('transient-gate'))?.status === 'stopped');
    expect((await rejection(at('transient-gate').passed())).code).toBe('NOT_HERE');
    await system.restart('transient-gate');
    expect(await at('transient-gate').passed()).toEqual({ opened: 10, state: 'closed' });
  });

  it('counts a throw of a transient one as a crash: it is started again', async () => {
    expect((await rejection(at('transient-gate').jam())).code).toBe('HANDLER_FAILED');
    expect(await at('transient-gate').passed()).toEqual({ opened: 10, state: 'closed' });
  });
});

describe('An agent of other XState logic', () => {
  const tally = (n: number) => system.ask({ agent: 'tally', capability: double }, { n });

  it('answers from a transition and keeps its state', async () => {
    expect(await tally(2)).toBe(2);
    expect(await Promise.all([tally(3), tally(4)])).toEqual([5, 9]);
  });

  it('is restarted when a transition throws', async () => {
    expect((await rejection(tally(-1))).code).toBe('HANDLER_FAILED');
    expect(await tally(1)).toBe(1);
  });
});
