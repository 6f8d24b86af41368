import { capability, defineAgent, signingKeyPair, startSystem, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rejection, until } from '../fixtures/until.ts';

const wait = capability({ id: 'clerk.wait', description: 'Waits', input: z.string(), output: z.string() });
const begun: string[] = [];
const givenUp: string[] = [];
/** Handles one at a time, while one waits. */
const clerk = defineAgent({
  id: 'clerk',
  name: 'Clerk',
  version: '1.0.0',
  description: 'Slow',
  tier: 2,
  mailboxCapacity: 2,
}).handle(wait, async (what, ctx) => {
  begun.push(what);
  if (what === 'last') return what;
  return new Promise<string>((_, reject) => {
    ctx.signal.addEventListener('abort', () => {
      givenUp.push(what);
      reject(ctx.signal.reason as Error);
    });
  });
});

describe('An ask that its node gives up (N-3.7)', () => {
  let rome: Team;
  let oslo: Team;

  beforeAll(async () => {
    const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
    rome = await startSystem({
      spareThread: false,
      agents: [clerk],
      peers: {
        transports: [webSocket()],
        identity: { node: 'rome', key: keys.rome },
        trust: [{ key: keys.oslo.publicKey, tier: 2, sandboxId: null }],
      },
    });
    oslo = await startSystem({
      spareThread: false,
      agents: [],
      peers: {
        transports: [webSocket()],
        identity: { node: 'oslo', key: keys.oslo },
        trust: [{ key: keys.rome.publicKey, tier: 2, sandboxId: null }],
        discover: { dial: rome.peers.addresses },
      },
    });
  });

  afterAll(async () => {
    await Promise.all([oslo, rome].map((team) => team.stop({ drainMs: 0 })));
  });

  it('ends there, whether it is in hand, in the mailbox, or waits for room in it', async () => {
    const leave = new AbortController();
    const ask = (what: string, signal?: AbortSignal) =>
      oslo.ask({ agent: 'clerk', capability: wait }, what, {
        timeoutMs: 60_000,
        ...(signal === undefined ? {} : { signal }),
      });
    const asked = ['in hand', 'in the mailbox', 'waiting', 'waiting, too'].map((what) =>
      rejection(ask(what, leave.signal)),
    );
    await until('the first is in hand', () => begun.length === 1);
    await until('the others are there', async () => (await rome.peers.list())[0]?.served === 4);
    expect(await rome.conservation()).toMatchObject({ accepted: 2, inFlight: 2 });
    leave.abort();
    for (const error of await Promise.all(asked)) expect(error).toMatchObject({ code: 'CANCELLED' });
    expect(await ask('last')).toBe('last');
    expect([begun, givenUp]).toEqual([['in hand', 'last'], ['in hand']]);
  });
});
