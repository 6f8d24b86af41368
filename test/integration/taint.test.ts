import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  capability,
  channelsOf,
  considers,
  defineAgent,
  negotiatorOf,
  startSystem,
  type System,
  takeOn,
} from 'orrery';
import { remoteAgent } from 'orrery/remote';
import { approveWith, openSystemTasks } from 'orrery/tasks';
import { toolsOf } from 'orrery/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { numbered } from '../fixtures/agents/corresponding.ts';
import { danger, Doing, peek, run, type Step, taintOf } from '../fixtures/agents/graph.ts';
import { RemoteSystem } from '../fixtures/remote-system.ts';
import { runFixture } from '../fixtures/run-fixture.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const WEB = ['web:a'];
const at = (id: string) => ({ agent: id, capability: run });
const does = (system: System, id: string, steps: Step[], taint?: string[]) =>
  system.ask(at(id), { steps }, taint === undefined ? {} : { taint });
const inIt = (system: System, id: string) => system.ask({ agent: id, capability: peek }, undefined);
const ask = (to: string, steps: Step[] = []): Step => ({ do: 'ask', to, steps });
const CLEAN: Step = { do: 'clean' };
const who = (id: string) => ({ id, name: id, version: '1.0.0', description: id, tier: 2 }) as const;
const cleanings = async (system: System) =>
  (await system.recentEvents()).filter(({ type }) => type === 'declared-clean');

describe('what came from outside (F-09)', () => {
  it('stays on an agent in a process of its own, which cannot take it off', async () => {
    const isolation = 'process' as const;
    await using system = await startSystem({
      agents: [
        agent('graph', { instances: ['mars'] }),
        agent('graph', { instances: ['walled'], isolation }),
        agent('graph', { instances: ['believed'], isolation, mayDeclareClean: true }),
      ],
    });
    const seen = await does(system, 'walled', [ask('mars'), CLEAN, ask('mars')], WEB);
    expect(seen.others).toMatchObject([{ given: WEB }, 'NOT_PERMITTED', { given: WEB }]);
    expect(seen).toMatchObject({ given: WEB, after: [WEB, WEB, WEB] });
    expect(await cleanings(system)).toEqual([]);
    const marked = await does(system, 'walled', [{ do: 'mark', source: 'web:b' }, ask('mars')]);
    expect(marked).toMatchObject({ given: [], others: [{ given: ['web:a', 'web:b'] }] });
    const told = await does(system, 'believed', [ask('walled'), CLEAN, ask('mars', [CLEAN])]);
    expect(told.after[0]).toEqual(['web:a', 'web:b']);
    expect(told.after[1]).toEqual([]);
    const approvals: unknown[] = [];
    await approveWith(system, (request) => approvals.push(request) > 1);
    const dangerous = { agent: 'walled', capability: danger };
    const input = { steps: [], approve: true };
    const refusal = await rejection(system.ask(dangerous, input, { taint: WEB }));
    expect(refusal).toMatchObject({ code: 'TAINTED' });
    expect(refusal.message).toMatch(/graph\.danger.*web:a/);
    expect(await system.ask(dangerous, input, { taint: WEB })).toMatchObject({ at: 'walled' });
    expect(approvals).toMatchObject([
      { action: 'graph.danger', details: { agent: 'walled', input }, taint: WEB },
      { action: 'graph.danger' },
    ]);
  });

  it('goes with a state that is handed on, and stays in its thread over a fresh one and a death', async () => {
    await using system = await startSystem({ agents: [agent('keeping-graph')] });
    const module = new URL('../fixtures/agents/keeping-graph.agent.ts', import.meta.url);
    await does(system, 'keeping-graph', [], WEB);
    await system.upgrade('keeping-graph', { module });
    expect(await inIt(system, 'keeping-graph')).toEqual(WEB);
    await system.upgrade('keeping-graph', { module, fresh: true });
    expect(await inIt(system, 'keeping-graph')).toEqual(WEB);
    expect(await rejection(does(system, 'keeping-graph', [{ do: 'crash' }]))).toMatchObject({
      code: 'HANDLER_FAILED',
    });
    await system.stopAgent('keeping-graph');
    await system.restart('keeping-graph');
    expect(await inIt(system, 'keeping-graph')).toEqual(WEB);
    const place = (await system.roster()).find(({ id }) => id === 'keeping-graph')?.place ?? '';
    await system.terminate(place);
    expect(await inIt(system, 'keeping-graph')).toEqual([]);
  });

  it('is on the mail and the state that a killed process has left in its journal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-taint-'));
    try {
      const path = join(folder, 'journal.db');
      const host = runFixture('taint-host', [path]);
      for await (const line of host.lines) if (line === 'kept') break;
      host.child.kill('SIGKILL');
      await host.ended;
      await using system = await startSystem({ journal: { path }, agents: [agent('keeping-graph')] });
      expect(await inIt(system, 'keeping-graph')).toEqual(['web:mail', 'web:state']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is on what a second attempt is given, and on what the first one has kept for it', async () => {
    const tries: string[][] = [];
    const digger = defineAgent({ ...who('digger'), delivery: 'retry' }).handle(run, (_, ctx) => {
      tries.push(taintOf(ctx));
      if (tries.length > 1) {
        expect(ctx.resumeFrom).toEqual({ half: 'of it' });
        return new Doing(ctx).seen;
      }
      ctx.markOutside('web:b');
      ctx.checkpoint({ half: 'of it' });
      ctx.declareClean('nothing but the checkpoint has it');
      throw new Error('it is to be tried again');
    });
    await using system = await startSystem({ agents: [digger] });
    let taint: readonly string[] = [];
    const onTaint = (told: readonly string[]): void => {
      taint = told;
    };
    await system.ask(at('digger'), { steps: [] }, { taint: WEB, onTaint });
    expect(tries).toEqual([WEB, WEB]);
    expect(taint).toEqual(['web:a', 'web:b']);
  });

  it('can be added to by whoever sends, and not taken off', async () => {
    const heard: (readonly string[])[] = [];
    const reader = defineAgent(who('reader'))
      .handle(run, (_, ctx) => {
        heard.push(ctx.taint ?? []);
        return new Doing(ctx).seen;
      })
      .on('notification', (_, ctx) => void heard.push(ctx.taint ?? []));
    const writer = defineAgent(who('writer')).handle(run, async (_, ctx) => {
      await ctx.ask(at('reader'), { steps: [] }, { taint: ['web:b'] });
      ctx.tell('reader', 'news', { taint: ['web:c'] });
      const wrong = [{ taint: [] }, { taint: 'web:b' }, { metadata: { taint: [] } }];
      for (const options of wrong)
        await rejection(ctx.ask(at('reader'), { steps: [] }, options as never)).then(({ code }) =>
          expect(code).toBe('INVALID_OPTIONS'),
        );
      return new Doing(ctx).seen;
    });
    await using system = await startSystem({ agents: [reader, writer] });
    await does(system, 'writer', [], WEB);
    await until('it was told', () => heard.length === 2);
    expect(heard).toEqual([
      ['web:a', 'web:b'],
      ['web:a', 'web:b', 'web:c'],
    ]);
  });

  it('is kept by the work that has it, whoever calls back meanwhile and says that all is clean', async () => {
    const caller = defineAgent(who('caller'))
      .handle(run, async (_, ctx) => {
        const before = taintOf(ctx);
        await ctx.ask({ agent: 'helper', capability: peek }, undefined);
        expect([before, taintOf(ctx)]).toEqual([WEB, WEB]);
        return new Doing(ctx).seen;
      })
      .handle(danger, (_, ctx) => {
        ctx.declareClean('this call has nothing of it');
        return new Doing(ctx).seen;
      })
      .handle(peek, (_, ctx) => taintOf(ctx));
    const helper = defineAgent(who('helper')).handle(peek, async (_, ctx) => {
      ctx.declareClean('it forgets at once');
      await ctx.ask({ agent: 'caller', capability: danger }, { steps: [], approve: true });
      return taintOf(ctx);
    });
    await using pair = await startSystem({ agents: [caller, helper] });
    await does(pair, 'caller', [], WEB);
    expect(await inIt(pair, 'caller')).toEqual(WEB);
  });

  it('goes over a channel with what is sent there, and does not come back with the acknowledgement', async () => {
    const heard: string[][] = [];
    const reader = defineAgent(who('reader'))
      .onChannel((channel) => {
        channel.onMessage((envelope, ctx) => {
          heard.push([...(envelope.metadata?.taint ?? [])], taintOf(ctx));
        });
      })
      .handle(peek, (_, ctx) => taintOf(ctx));
    const writer = defineAgent(who('writer'))
      .handle(run, async ({ steps }, ctx) => {
        const channel = await channelsOf(ctx).openChannel('reader');
        await channel.send(numbered(channel, 0));
        const doing = new Doing(ctx);
        for (const step of steps) await doing.step(step);
        await channel.send(numbered(channel, 1));
        await channel.close();
        return doing.seen;
      })
      .handle(peek, (_, ctx) => taintOf(ctx));
    await using system = await startSystem({ agents: [reader, writer] });
    await does(system, 'writer', [{ do: 'mark', source: 'web:a' }]);
    expect(heard).toEqual([[], [], WEB, WEB]);
    expect(await inIt(system, 'reader')).toEqual(WEB);
    await does(system, 'writer', [CLEAN]);
    expect(await inIt(system, 'writer')).toEqual([]);
  });

  it('goes with a proposal to whoever considers it, and with the answer', async () => {
    const bidder = defineAgent(who('bidder'))
      .on(
        'task-proposal',
        considers(() => takeOn({ estimatedCompletionMs: 10 })),
      )
      .handle(peek, (_, ctx) => taintOf(ctx));
    const owner = defineAgent(who('owner'))
      .handle(run, async ({ steps }, ctx) => {
        const doing = new Doing(ctx);
        for (const step of steps) await doing.step(step);
        const proposal = {
          taskDescription: 'Look at it',
          requiredCapabilities: [peek.id],
          estimatedComplexity: 'simple' as const,
          deadlineMs: 20_000,
        };
        await negotiatorOf(ctx).propose(proposal, { to: 'bidder' });
        return doing.seen;
      })
      .handle(peek, (_, ctx) => taintOf(ctx));
    await using system = await startSystem({ agents: [bidder, owner] });
    await does(system, 'owner', [], WEB);
    expect(await inIt(system, 'bidder')).toEqual(WEB);
    expect(await does(system, 'owner', [CLEAN])).toMatchObject({ after: [[]] });
    expect(await inIt(system, 'owner')).toEqual(WEB);
  });

  it('goes with the results of a swarm into what is made of them, and to whoever owns it', async () => {
    const reads = agent('graph', { instances: ['mars'] });
    const sums = defineAgent(who('sums')).handle(danger, (_, ctx) => new Doing(ctx).seen);
    await using system = await startSystem({ agents: [reads, sums] });
    const plan = [
      {
        id: 'read',
        requiredCapabilities: [run.id],
        input: { steps: [{ do: 'mark', source: 'web:a' }] },
      },
      {
        id: 'sum',
        requiredCapabilities: [danger.id],
        input: { steps: [], approve: true },
        dependsOn: ['read'],
        inputFrom: { read: 'read' },
      },
    ];
    const asked: string[] = [];
    await approveWith(system, ({ action, taint }) => {
      asked.push(`${action} ${taint?.join()}`);
      return true;
    });
    const { id } = await system.swarms.createSwarm('Read and sum', [run.id, danger.id], { plan });
    const outcome = await system.swarms.outcome(id);
    expect(outcome.status).toBe('completed');
    expect(asked).toEqual(['graph.danger web:a']);
    const { subTasks } = system.swarms.getSwarm(id) ?? { subTasks: [] };
    expect(subTasks.map(({ taint }) => taint)).toEqual([WEB, WEB]);
  });

  it('is what an agent of another system answers', async () => {
    await using other = await RemoteSystem.start('b');
    const [mars, friend] = await Promise.all([
      remoteAgent(`${other.url}/mars`, { self: 'a' }),
      remoteAgent(`${other.url}/mars`, { self: 'a', id: 'friend', trusted: true }),
    ]);
    await using system = await startSystem({ agents: [mars, friend] });
    const { capabilities } = system.registry.getById('b/mars') ?? { capabilities: [] };
    expect(capabilities.map(({ id }) => id)).toContain('words.count');
    const count = capability({
      id: 'words.count',
      description: 'Counts words',
      input: z.object({ text: z.string() }),
      output: z.unknown(),
    });
    const taints: (readonly string[])[] = [];
    const onTaint = (taint: readonly string[]): void => void taints.push(taint);
    await system.ask({ agent: 'friend', capability: count }, { text: 'a b' }, { onTaint });
    expect(taints).toEqual([]);
    await system.ask({ agent: 'b/mars', capability: count }, { text: 'a b' }, { onTaint });
    expect(taints.at(-1)).toEqual([`a2a:${new URL(other.url).host}`]);
  });

  it('is gone when an agent says so, which is an event that outlives its thread', async () => {
    await using system = await startSystem({ agents: [agent('graph', { instances: ['mars'] })] });
    await does(system, 'mars', [CLEAN]);
    await does(system, 'mars', [CLEAN], WEB);
    const place = (await system.roster()).find(({ id }) => id === 'mars')?.place ?? '';
    await system.terminate(place);
    expect(await inIt(system, 'mars')).toEqual([]);
    const [event, ...more] = await until('it is told', async () => {
      const events = await cleanings(system);
      return events.length > 0 && events;
    });
    expect(more).toEqual([]);
    const reason = 'nothing is left of it';
    expect(event).toMatchObject({ agentId: 'mars', taint: WEB, reason, security: true, place });
    expect(event?.envelopeId).toBeDefined();
  });
});

describe('a tool that is called (F-09)', () => {
  it('says where its answer came from outside', async () => {
    await using system = await startSystem({ agents: [agent('graph', { instances: ['mars'] })] });
    const heard: unknown[] = [];
    const steps: Step[] = [{ do: 'mark', source: 'web:b' }];
    const onTaint = (taint: unknown) => heard.push(taint);
    await toolsOf(system).call(`mars.${run.id}`, { steps }, { taint: WEB, onTaint });
    expect(heard).toEqual([['web:a', 'web:b']]);
  });
});

describe('a privileged capability (F-09)', () => {
  it('takes nothing from outside where nobody approves it, told or asked, and says so', async () => {
    await using system = await startSystem({ agents: [agent('graph', { instances: ['mars', 'venus'] })] });
    const dangerous = { agent: 'venus', capability: danger };
    const input = { steps: [], approve: true };
    expect(await system.ask(dangerous, input)).toMatchObject({ at: 'venus' });
    const steps: Step[] = [{ do: 'danger', to: 'venus', steps: [], approve: true }];
    expect(await does(system, 'mars', steps, WEB)).toMatchObject({ others: ['TAINTED'] });
    system.tell(dangerous, { ...input, steps: [{ do: 'mark', source: 'web:z' }] }, { taint: WEB });
    expect(await inIt(system, 'venus')).toEqual([]);
    const refusals = (await system.recentEvents()).filter(
      ({ errorCode, security }) => errorCode === 'TAINTED' && security === true,
    );
    expect(refusals.map(({ sender, recipient }) => [sender, recipient])).toEqual([
      ['mars', 'venus'],
      ['system/host', 'venus'],
    ]);
    for (const { reason } of refusals) expect(reason).toMatch(/graph\.danger.*web:a.*nobody is there/);
    expect(await system.conservation()).toMatchObject({ holds: true, rejected: 2 });
  });

  it('asks the owner of a task, unless it is the owner that is outside', async () => {
    await using system = await startSystem({ agents: [agent('graph', { instances: ['mars'] })] });
    const tasks = await openSystemTasks(system);
    const owner = { principalId: 'key:alice' };
    let messages = 0;
    const call = { data: { tool: danger.id, arguments: { steps: [], approve: true } } };
    const send = async (taint: string[], part: object, taskId?: string) => {
      const message = { messageId: `m${++messages}`, role: 'user' as const, parts: [part] };
      const said = {
        agentId: 'mars',
        message,
        terms: { taint },
        ...(taskId === undefined ? {} : { taskId }),
      };
      const { id } = await tasks.send(owner, said as never);
      return tasks.whenIdle(owner, id);
    };
    const asked = await send(['mcp:search'], call);
    expect(asked.status.state).toBe('input-required');
    const { approvalRequired } = (asked.status.message?.parts ?? [])
      .flatMap((part) => ('data' in part ? [part.data as { approvalRequired?: { approvalId: string } }] : []))
      .find((data) => data.approvalRequired !== undefined) as { approvalRequired: { approvalId: string } };
    const { approvalId } = approvalRequired;
    const done = await send(['mcp:search'], { data: { approvalId, approved: true } }, asked.id);
    expect(done.status.state).toBe('completed');
    const refused = await send(['a2a:key:alice'], call);
    expect(refused.status.state).toBe('failed');
    expect(JSON.stringify(refused.status.message)).toContain('TAINTED');
    await tasks.close();
  });
});
