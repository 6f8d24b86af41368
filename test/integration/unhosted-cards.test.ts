import { type AgentCard, capability, defineAgent, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const sum = capability({
  id: 'sum',
  description: 'Adds two numbers',
  input: z.tuple([z.number(), z.number()]),
  output: z.number(),
});
const greet = capability({
  id: 'greet',
  description: 'Greets',
  input: z.string(),
  output: z.string(),
});
const relay = capability({
  id: 'relay',
  description: 'Asks for a sum, and tells an agent',
  input: z.string(),
  output: z.object({ sum: z.number(), told: z.string() }),
});

const facts = { version: '1.0.0', description: 'One of a team', tier: 2 } as const;
const adder = defineAgent({ id: 'adder', name: 'ADDER', ...facts })
  .handle(sum, async ([one, other]) => one + other)
  .on('notification', () => undefined);
const relaying = defineAgent({ id: 'relaying', name: 'RELAYING', ...facts }).handle(
  relay,
  async (to, ctx) => {
    const told = ctx.tell(to, 'hello');
    return { sum: await ctx.ask(sum, [1, 2]), told: told.errorCode ?? 'delivered' };
  },
);

const offering = (id: string): AgentCard['capabilities'] => [
  { id, name: id, description: id, inputSchema: {}, outputSchema: {} },
];

const cardOf = (id: string, fields: Partial<AgentCard> = {}): AgentCard => ({
  ...facts,
  id,
  name: id.toUpperCase(),
  protocols: ['a2a/1.0'],
  endpoints: [{ transport: 'local' }],
  capabilities: offering('sum'),
  revision: 0,
  origin: 'local',
  lastSeenAt: 0,
  ...fields,
});

let system: System;

beforeAll(async () => {
  // The cards are there before the live agent is: they come first in the order of registration.
  system = await startSystem({ agents: [relaying] });
  system.registry.register(cardOf('ghost'));
  system.registry.mergeRemote(cardOf('far', { tier: 0 }), { nodeId: 'node-7' });
  await system.start([adder]);
});
afterAll(() => system.stop());

describe('A card that nobody hosts, in a running system', () => {
  it('is refused by name, and nothing for it is in flight (F-01)', async () => {
    for (const id of ['ghost', 'far']) {
      expect(system.tell(id, 'hello')).toMatchObject({
        delivered: false,
        targetAgentId: id,
        errorCode: 'AGENT_NOT_FOUND',
        error: `The card of "${id}" is registered, but nobody hosts it`,
      });
      const asked = system.ask({ agent: id, capability: sum }, [1, 2]);
      await expect(asked).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    }
    const { inFlight, holds } = await system.conservation();
    expect({ inFlight, holds }).toEqual({ inFlight: 0, holds: true });
  });

  it('takes no ask for a capability from an agent that is there, from any thread', async () => {
    expect(await system.ask(sum, [1, 2])).toBe(3);
    expect(await system.ask(relay, 'ghost')).toEqual({ sum: 3, told: 'AGENT_NOT_FOUND' });
  });

  it('is no answer to who offers a capability', async () => {
    system.registry.register(cardOf('greeter', { capabilities: offering('greet') }));
    await expect(system.ask(greet, 'hi')).rejects.toMatchObject({
      code: 'CAPABILITY_NOT_FOUND',
      message: 'No agent offers the capability "greet"',
    });
  });

  it('is among those whom a broadcast did not reach', async () => {
    const sent = system.tell('*', 'hello');
    expect(sent.recipients?.toSorted()).toEqual(['adder', 'relaying']);
    expect(sent.refused?.map(({ agentId, code }) => [agentId, code])).toEqual(
      ['ghost', 'far', 'greeter'].map((id) => [id, 'AGENT_NOT_FOUND']),
    );
  });

  it('has its envelopes from when somebody receives for it, and stands as it was granted (C-31)', async () => {
    const got: unknown[] = [];
    const stop = await system.onReceive('far', (envelope) => {
      got.push(envelope.payload);
      return 40;
    });
    expect(await system.ask({ agent: 'far', capability: sum }, [1, 2])).toBe(40);
    expect(got).toEqual([[1, 2]]);
    expect(system.registry.findByTier(3).map(({ id }) => id)).toEqual(['far']);
    // It is heard of again, and still received for.
    system.registry.mergeRemote(cardOf('far', { tier: 0, version: '2.0.0' }), { nodeId: 'node-7' });
    expect(await system.ask({ agent: 'far', capability: sum }, [3, 4])).toBe(40);
    await stop();
  });
});
