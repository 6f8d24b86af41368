import { capability, defineAgent, startSystem } from 'orrery';
import { toolsOf } from 'orrery/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { look } from '../fixtures/agents/reading.ts';
import { sayer } from '../fixtures/agents/sayer.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const saying = (id: string, says: readonly string[]) => sayer(id, '1.0.0', says);

describe('What there is to be called', () => {
  it('is another list when agents come, go and are upgraded, and the same one otherwise', async () => {
    await using system = await startSystem({ agents: [agent('sayer-1')] });
    const tools = toolsOf(system);
    const changes: string[] = [];
    const release = tools.onChange((change) => changes.push(change));
    const first = tools.tools();
    expect(first.map(({ name }) => name)).toEqual(['one.hello']);

    await system.start([agent('library')]);
    await until('the library was told of', () => changes.length === 3);
    expect(changes).toEqual(['tools', 'resources', 'prompts']);
    expect(tools.tools()[0]).toBe(first[0]);
    expect(tools.resources().length).toBeGreaterThan(0);

    const withLibrary = tools.tools();
    await system.start([
      defineAgent({ id: 'mute', name: 'MUTE', version: '1.0.0', description: '', tier: 2 }),
    ]);
    expect(tools.tools()).toBe(withLibrary);
    expect(changes).toHaveLength(3);

    await system.upgrade('one', agent('sayer-2'));
    await until('the upgrade was told of', () => changes.length === 4);
    expect(tools.tool('one.goodbye')).toBeDefined();
    expect(await tools.call('one.goodbye', {})).toBe('one goodbye');

    system.registry.unregister('library');
    await until('its end was told of', () => changes.length === 7);
    expect(tools.tool('library.find')).toBeUndefined();
    expect(tools.resources()).toEqual([]);
    release();
    await system.start([saying('late', ['hello'])]);
    await until('it is listed', () => tools.tool('late.hello'));
    expect(changes).toHaveLength(7);
  });

  it('is one tool a name: the first that was registered, and the other is told of (N-5.5)', async () => {
    await using system = await startSystem({
      agents: [saying('a', ['b.c', 'x']), saying('a.b', ['c', 'y'])],
    });
    const tools = toolsOf(system);
    expect(tools.tools().map(({ name, agentId }) => [name, agentId])).toEqual([
      ['a.b.c', 'a'],
      ['a.x', 'a'],
      ['a.b.y', 'a.b'],
    ]);
    expect(await tools.call('a.b.c', {})).toBe('a b.c');
    const told = await until('the duplicate was told of', async () =>
      (await system.recentEvents()).find(({ errorCode }) => errorCode === 'DUPLICATE_TOOL'),
    );
    expect(told).toMatchObject({ type: 'error', agentId: 'a.b', reason: expect.stringContaining('"a.b.c"') });
    tools.tools();
    system.registry.unregister('a');
    await until('the other is listed', () => tools.tool('a.b.c')?.agentId === 'a.b');
    expect(await tools.call('a.b.c', {})).toBe('a.b c');
  });

  it('is what the sandbox lets an agent write to, and that alone is called (DESIGN 6)', async () => {
    const insider = defineAgent({
      id: 'insider',
      name: 'INSIDER',
      version: '1.0.0',
      description: 'In a sandbox',
      tier: 2,
      sandboxId: 'box',
    })
      .handle(look, (_input, ctx) => {
        const tools = toolsOf(ctx);
        return {
          tools: tools.tools().map(({ name }) => name),
          resources: tools.resources().map(({ uri }) => uri),
          calls: 0,
        };
      })
      .handle(
        capability({ id: 'try', description: 'Tries', input: z.object({}), output: z.unknown() }),
        (_input, ctx) => toolsOf(ctx).call('one.hello', {}),
      );
    await using system = await startSystem({ agents: [insider, saying('one', ['hello'])] });
    const seen = async () => (await system.ask({ agent: 'insider', capability: look }, {})).tools;
    expect(await seen()).toEqual(['insider.look', 'insider.try']);
    expect(await rejection(toolsOf(system).call('insider.try', {}))).toMatchObject({
      code: 'TOOL_NOT_FOUND',
    });
    await system.configure({ sandbox: { enforced: true, crossSandboxAllowList: ['one'] } });
    expect(await seen()).toEqual(['insider.look', 'insider.try', 'one.hello']);
    expect(await toolsOf(system).call('insider.try', {})).toBe('one hello');
    const outsider = { as: { id: 'somebody', tier: 0 } } as const;
    expect(await rejection(toolsOf(system).call('insider.try', {}, outsider))).toMatchObject({
      code: 'SANDBOX_VIOLATION',
    });
    await system.configure({ sandbox: { enforced: true, crossSandboxAllowList: [] } });
    expect(await seen()).toEqual(['insider.look', 'insider.try']);
  });

  it('can be a thousand tools, called a thousand times at once, half of which are cancelled', async () => {
    await using system = await startSystem({
      agents: [{ ...agent('toolbox'), instances: ['box-a', 'box-b', 'box-c', 'box-d'] }],
    });
    const tools = toolsOf(system);
    const all = tools.tools();
    expect(all).toHaveLength(1_000);
    expect(new Set(all.map(({ name }) => name)).size).toBe(1_000);

    const abort = new AbortController();
    const waiting = new Set<string>();
    const called = all.map(({ name }, n) =>
      n % 2 === 0
        ? tools.call(
            name,
            { n, waits: true },
            { signal: abort.signal, onProgress: () => waiting.add(name.split('.', 1)[0] as string) },
          )
        : tools.call(name, { n }, { deadlineAtMs: Date.now() + 120_000 }),
    );
    const settled = Promise.allSettled(called);
    await until('each agent has one in hand', () => waiting.size === 4);
    abort.abort();
    const outcomes = await settled;
    for (const [n, outcome] of outcomes.entries()) {
      if (n % 2 === 0) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'CANCELLED' } });
      else expect(outcome).toEqual({ status: 'fulfilled', value: { n, at: n % 250 } });
    }
    const account = await until('the accounts add up', async () => {
      const now = await system.conservation();
      return now.inFlight === 0 && now;
    });
    expect(account).toMatchObject({ holds: true });
    expect(tools.invocations()).toHaveLength(1_000);
    const metrics = await system.metrics();
    expect(metrics).toContain('orrery_tool_invocations_total 1000');
    expect(metrics).toContain('orrery_tool_errors_total 500');
    expect(metrics).toContain('orrery_tool_invocations_by_tool_total{tool="box-a.tool-0"} 1');
    expect(metrics).toMatch(/^orrery_tool_seconds_total \d/m);
  });
});
