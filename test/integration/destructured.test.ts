import { startSystem, swarmsOf, defineAgent, negotiatorOf, capability } from 'orrery';
import { simulate } from 'orrery/simulate';
import { toolsOf } from 'orrery/tools';
import { taskOf } from 'orrery/tasks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addUp, countTo, replied, started } from '../fixtures/agents/loose.ts';
import { agent } from '../fixtures/until.ts';

const STARTED = { isAble: true, told: 'AGENT_NOT_FOUND', waited: 'AGENT_NOT_FOUND', effect: 'done' };
const ADDED = {
  sum: 6,
  left: { tokens: 94 },
  delivered: [true, true],
  asked: STARTED,
  effect: 'done',
  isAble: true,
  taint: ['web:example.org'],
};
const TIERS = ['inline', 'thread', 'process'] as const;

let system: Awaited<ReturnType<typeof startSystem>>;
beforeAll(async () => {
  const helper = agent('loose', { instances: ['helper'] });
  const placed = (isolation: (typeof TIERS)[number]) =>
    isolation === 'process' ? { isolation, permissions: { worker: true } } : { isolation };
  const ofTier = (isolation: (typeof TIERS)[number]) => [
    agent('loose', { ...placed(isolation), instances: [isolation] }),
    agent('loose-logic', { isolation, instances: [`logic-${isolation}`] }),
  ];
  system = await startSystem({ agents: [helper, ...TIERS.flatMap(ofTier)] });
});
afterAll(() => system.stop());

describe('The methods of a context', () => {
  it.each(TIERS)('can be taken from it in handlers, streams and starts (%s)', async (id) => {
    const { ask, stream } = system;
    const budget = { tokens: 100 };
    const added = await ask({ agent: id, capability: addUp }, { helper: 'helper' }, { budget });
    expect(added).toEqual({ ...ADDED, doubled: 42 });
    expect(await ask({ agent: id, capability: started }, undefined)).toEqual(STARTED);
    const counted: number[] = [];
    for await (const one of stream({ agent: id, capability: countTo }, 3)) counted.push(one);
    expect(counted).toEqual([1, 2, 3]);
  });

  it.each(TIERS)('can be taken from it in XState logic (%s)', async (id) => {
    const { ask, tell } = system;
    expect(await ask({ agent: `logic-${id}`, capability: replied }, 41)).toBe(42);
    expect(tell(`logic-${id}`, {}).delivered).toBe(true);
  });

  it('can be taken from it in a simulation', async () => {
    const { value } = await simulate({
      seed: 1,
      agents: [agent('loose', { instances: ['helper', 'loose'] })],
      effects: { loose: () => 'done' },
      run: ({ ask }) =>
        ask({ agent: 'loose', capability: addUp }, { helper: 'helper' }, { budget: { tokens: 100 } }),
    });
    expect(value).toEqual({ ...ADDED, doubled: 42 });
  });
});

describe('The methods of a system', () => {
  it('can be taken from it', async () => {
    const { roster, recentEvents, inspect, deadLetters, conservation, metrics, client, send, openAccount } =
      system;
    expect((await roster()).map(({ id }) => id)).toContain('helper');
    (await inspect(() => undefined))();
    expect((await conservation()).holds).toBe(true);
    expect(await deadLetters()).toEqual([]);
    expect(await metrics()).toContain('orrery');
    expect((await client()).agentId).toBe('system/host');
    expect((await send({} as never)).errorCode).toBe('INVALID_ENVELOPE');
    expect(openAccount({ tokens: 1 }).left).toEqual({ tokens: 1 });
    expect((await recentEvents()).length).toBeGreaterThan(0);
    const { getById, getLocalCards } = system.registry;
    expect(getById('helper')?.id).toBe('helper');
    expect(getLocalCards().length).toBeGreaterThan(0);
  });

  it('keep their object also in its negotiator, swarms and tools', async () => {
    const { propose, getProposal } = system.negotiator;
    const { proposalId } = await propose(
      {
        taskDescription: 'To be declined',
        requiredCapabilities: [],
        estimatedComplexity: 'simple',
        deadlineMs: 1_000,
      },
      { to: 'helper' },
    );
    expect(getProposal(proposalId)?.proposalId).toBe(proposalId);
    const { createSwarm, outcome, listSwarms } = system.swarms;
    const { id } = await createSwarm('Nobody can', ['nobody.can']);
    expect((await outcome(id)).status).toBe('failed');
    expect(listSwarms().map((swarm) => swarm.id)).toContain(id);
    const { tools, call } = toolsOf(system);
    expect(tools().map(({ name }) => name)).toContain('helper.loose.started');
    await expect(call('none', {})).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('do so in what an agent has of its context', async () => {
    const look = capability({ id: 'loose.look', description: 'Looks', input: z.void(), output: z.unknown() });
    const looker = defineAgent({
      id: 'looker',
      name: 'LOOKER',
      version: '1.0.0',
      description: 'Looks',
      tier: 2,
    });
    looker.handle(look, async (_, ctx) => {
      const { tools, call, invocations } = toolsOf(ctx);
      const { listSwarms } = swarmsOf(ctx);
      const { listPending } = negotiatorOf(ctx);
      const refusal: unknown = await call('none', {}).catch(({ code }) => String(code));
      return [
        tools().length > 0,
        refusal,
        invocations().length,
        listSwarms().length,
        listPending().length,
        taskOf(ctx) === undefined,
      ];
    });
    await system.start([looker]);
    const { ask } = system;
    expect(await ask(look, undefined)).toEqual([true, 'TOOL_NOT_FOUND', 0, 0, 0, true]);
  });
});
