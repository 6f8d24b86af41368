import { capability, defineAgent, signingKeyPair, startSystem } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { rejection, until } from '../fixtures/until.ts';

const wait = capability({
  id: 'waits',
  description: 'Waits until it is not wanted any more',
  input: z.number(),
  output: z.number(),
});

const begun: number[] = [];
const over: number[] = [];
const waiter = defineAgent({
  id: 'waiter',
  name: 'Waiter',
  version: '1.0.0',
  description: 'Waits',
  tier: 2,
  concurrency: 10,
}).handle(wait, async (n, ctx) => {
  begun.push(n);
  ctx.signal.addEventListener('abort', () => over.push(n));
  await ctx.sleep(600_000);
  return n;
});

it('A node that is stopped ends what it has asked of others once, tells whoever asked, and that work stops (N-3.6)', async () => {
  const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
  const common = { spareThread: false, policies: { escalation: 'off' } } as const;
  const rome = await startSystem({
    ...common,
    agents: [waiter],
    peers: {
      identity: { node: 'rome', key: keys.rome },
      transports: [webSocket()],
      trust: [{ key: keys.oslo.publicKey, tier: 2, sandboxId: null }],
    },
  });
  const oslo = await startSystem({
    ...common,
    agents: [],
    peers: {
      identity: { node: 'oslo', key: keys.oslo },
      transports: [webSocket()],
      trust: [{ key: keys.rome.publicKey, tier: 2, sandboxId: null }],
      discover: { dial: rome.peers.addresses },
    },
  });
  const target = { agent: 'waiter', capability: wait };
  const asked = [1, 2, 3].map((n) => rejection(oslo.ask(target, n, { timeoutMs: 600_000 })));
  await until('three asks are in hand', () => begun.length === 3);
  for (const n of [4, 5]) expect(oslo.tell(target, n).delivered).toBe(true);
  await until('two that were told are, too', () => begun.length === 5);
  const outcomes = new Map<string | undefined, (string | undefined)[]>();
  await oslo.inspect(({ type, envelopeId, recipient, outcome }) => {
    if (type === 'envelope-settled' && recipient === 'waiter')
      outcomes.set(envelopeId, [...(outcomes.get(envelopeId) ?? []), outcome]);
  });
  await oslo.stop({ drainMs: 0 });
  expect((await Promise.all(asked)).map(({ code }) => code)).toEqual(asked.map(() => 'SYSTEM_STOPPED'));
  expect([...outcomes.values()]).toEqual(begun.map(() => ['dead-lettered']));
  // What was told goes on: nobody waits for it.
  await until('what was asked has stopped there', () => over.length === 3);
  expect(over.sort()).toEqual([1, 2, 3]);
  await rome.stop({ drainMs: 0 });
});
