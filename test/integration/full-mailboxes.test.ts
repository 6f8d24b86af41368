import { BROADCAST, type System } from 'orrery';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { double, wait } from '../fixtures/agents/answers.ts';
import { startAnsweringTeam } from '../fixtures/answering-team.ts';
import { rejection, until } from '../fixtures/until.ts';

let system: System;

beforeAll(async () => {
  system = await startAnsweringTeam();
});
afterAll(() => system.stop());

describe('A full mailbox (F-12)', () => {
  // What has been answered is settled a moment later, and takes up room until then.
  beforeEach(() => until('nothing is in flight', async () => (await system.conservation()).inFlight === 0));

  it('refuses asks and tells with MAILBOX_FULL; parked ones wait for room and are answered', async () => {
    const stop = new AbortController();
    const blocking = rejection(system.ask(wait, 'blocking', { signal: stop.signal }));
    const told = Array.from({ length: 100 }, (_, n) => system.tell(double, { n }));
    expect(told.filter(({ delivered }) => delivered)).toHaveLength(63);
    expect(told.at(-1)).toMatchObject({
      delivered: false,
      errorCode: 'MAILBOX_FULL',
      targetAgentId: 'answers',
    });
    const { code, message } = await rejection(system.ask(double, { n: 1 }));
    expect(code).toBe('MAILBOX_FULL');
    expect(message).toContain('capacity 64');
    const parked = Array.from({ length: 100 }, (_, n) => system.ask(double, { n }, { whenFull: 'park' }));
    const parkedTell = system.tellWhenRoom(double, { n: 1 });
    stop.abort();
    expect((await blocking).code).toBe('CANCELLED');
    expect(await Promise.all(parked)).toEqual(Array.from({ length: 100 }, (_, n) => 2 * n));
    expect(await parkedTell).toMatchObject({ delivered: true });
  });

  it('is passed over by a broadcast, which says so and reaches the others', async () => {
    const stop = new AbortController();
    const blocking = rejection(system.ask(wait, 'broadcast', { signal: stop.signal }));
    while (system.tell(double, { n: 0 }).delivered);
    expect(system.tell(BROADCAST, 'to all')).toMatchObject({
      delivered: false,
      errorCode: 'MAILBOX_FULL',
      recipients: ['far', 'near'],
      refused: [{ agentId: 'answers', code: 'MAILBOX_FULL', reason: expect.stringContaining('capacity 64') }],
    });
    stop.abort();
    await blocking;
    expect(await system.ask(double, { n: 1 }, { whenFull: 'park' })).toBe(2);
  });

  it('lets go of a parked ask at its deadline', async () => {
    const stop = new AbortController();
    const blocking = rejection(system.ask(wait, 'parking', { signal: stop.signal }));
    for (let n = 0; n < 64; n++) system.tell(double, { n });
    const { code } = await rejection(system.ask(double, { n: 1 }, { whenFull: 'park', timeoutMs: 50 }));
    expect(code).toBe('DEADLINE_EXCEEDED');
    stop.abort();
    await blocking;
  });

  it('lets go of a parked ask when its signal aborts', async () => {
    const stop = new AbortController();
    const leave = new AbortController();
    const blocking = rejection(system.ask(wait, 'leaving', { signal: stop.signal }));
    for (let n = 0; n < 64; n++) system.tell(double, { n });
    const parked = rejection(system.ask(double, { n: 1 }, { whenFull: 'park', signal: leave.signal }));
    leave.abort();
    expect((await parked).code).toBe('CANCELLED');
    stop.abort();
    await blocking;
  });
});
