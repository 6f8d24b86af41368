import {
  type AgentCard,
  type Capability,
  capability,
  channelsOf,
  defineAgent,
  isOrreryError,
  type Progress,
  startSystem,
  type StartOptions,
} from 'orrery';
import { remoteAgent } from 'orrery/remote';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openSystemTasks, type Part } from 'orrery/tasks';
import { DELEGATION_URI } from '../../runtime/protocol/a2a-extension.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { FaultProxy } from '../fixtures/fault-proxy.ts';
import { cardOf, ScriptedAgent, stream, taskOf as scripted } from '../fixtures/scripted-agent.ts';
import { RemoteSystem } from '../fixtures/remote-system.ts';

const some = (id: string): Capability =>
  capability({ id, description: id, input: z.unknown(), output: z.unknown() });
const MARS = 'b/mars';
const at = (id: string) => ({ agent: MARS, capability: some(id) });

describe('an agent of another system, over plain A2A (C-31, C-38)', () => {
  let b: RemoteSystem;
  beforeAll(async () => {
    b = await RemoteSystem.start('b');
  });
  afterAll(() => b[Symbol.asyncDispose]());

  const team = async (options: Parameters<typeof remoteAgent>[1] = {}, rest: StartOptions = {}) => {
    const mars = await remoteAgent(`${b.url}/mars`, { self: 'a', ...options });
    return startSystem({ agents: [mars], ...rest });
  };

  it('is a member under a name, a tier and a sandbox of its own, and elsewhere (N-D09)', async () => {
    await using system = await team();
    const card = system.registry.getById(MARS);
    expect(card).toMatchObject({ id: MARS, name: 'MARS', tier: 3, sandboxId: MARS });
    const seen: unknown[] = [];
    const stop = await system.inspect(({ type, targetAgentId, routingPath }) => {
      if (type === 'routing-decision' && targetAgentId === MARS) seen.push(routingPath);
    });
    expect(await system.ask(at('words.count'), { text: 'one two' })).toEqual({ words: 2 });
    expect(system.tell(MARS, 'hello')).toMatchObject({ delivered: true, path: 'remote' });
    system.registry.register({ ...(card as AgentCard), description: 'Said anew' });
    expect(system.tell(MARS, 'again')).toMatchObject({ delivered: true, path: 'remote' });
    const decisions = (await system.recentEvents(1_000)).filter(
      ({ type, targetAgentId }) => type === 'routing-decision' && targetAgentId === MARS,
    );
    expect(decisions.map(({ routingPath }) => routingPath)).toEqual(['remote', 'remote', 'remote']);
    await expect.poll(() => seen, { timeout: 100_000 }).toEqual(['remote', 'remote', 'remote']);
    await stop();
    // No other node has its id: it is a member here.
    expect(system.registry.mergeRemote(card, { nodeId: 'b' })).toBe(false);
    expect(card?.capabilities.map(({ id }) => id)).toContain('words.count');
    await expect(remoteAgent(`${b.url}/mars`, { grantedTier: 0 as never })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      details: { field: 'remoteAgent.grantedTier' },
    });
    await using other = await team({ grantedTier: 2, sandboxId: null, id: 'wordy' });
    expect(other.registry.getById('wordy')).toMatchObject({ tier: 2 });
    expect(other.registry.getById('wordy')?.sandboxId).toBeUndefined();
  });

  it('is found when it is asked for, and then there like one that was started (N-4.4)', async () => {
    await using system = await startSystem({
      peers: {
        lookup: async ({ kind, id }) =>
          kind === 'capability' && id === 'words.count'
            ? [{ agent: await remoteAgent(`${b.url}/mars`, { self: 'a' }), grant: { nodeId: 'b' } }]
            : [],
      },
    });
    const count = capability({
      id: 'words.count',
      description: 'Counts',
      input: z.unknown(),
      output: z.unknown(),
    });
    expect(await system.ask(count, { text: 'one two three' })).toEqual({ words: 3 });
    expect(system.registry.getById(MARS)).toMatchObject({ origin: 'remote', tier: 3 });
  });

  it('is found by an agent here by what it offers, asked and streamed from; it takes no channels (N-T04)', async () => {
    const search = some('search');
    const heard: unknown[] = [];
    const venus = defineAgent({
      id: 'venus',
      name: 'VENUS',
      version: '1.0.0',
      description: '',
      tier: 2,
    }).handle(search, async (_, ctx) => {
      const text = 'one two three';
      heard.push(await ctx.ask(some('words.count'), { text }));
      for await (const word of ctx.stream(some('words.spell'), { text })) heard.push(word);
      const opened = channelsOf(ctx).openChannel(MARS);
      heard.push(await opened.catch(({ code }: { code: string }) => code));
      return [...(ctx.taint ?? [])];
    });
    await using system = await startSystem({
      agents: [venus],
      policies: { sandbox: { enforced: true, crossSandboxAllowList: [], allow: { 'b/': ['venus'] } } },
      peers: {
        lookup: async ({ id }) => {
          if (id !== 'words.count') return [];
          const agent = await remoteAgent(`${b.url}/mars`, { self: 'a', sandboxId: null });
          return [{ agent, grant: { nodeId: 'b', grantedTier: 2 } }];
        },
      },
    });
    expect(await system.ask(search, {})).toContain('peer:b');
    expect(heard).toEqual([{ words: 3 }, 'one', 'two', 'three', 'REFUSED']);
    const sent = (await system.recentEvents(1_000)).filter(
      ({ type, targetAgentId, success }) => type === 'routing-decision' && targetAgentId === MARS && success,
    );
    expect(sent.map(({ capability, routingPath }) => `${capability} ${routingPath}`)).toEqual(
      expect.arrayContaining(['words.count remote', 'words.spell remote']),
    );
    expect(system.registry.getById(MARS)).toMatchObject({ origin: 'remote' });
    expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('is asked, and tells how far it is', async () => {
    await using system = await team();
    const heard: Progress[] = [];
    const answer = await system.ask(
      at('words.count'),
      { text: 'one two three' },
      { onProgress: (one) => heard.push(one) },
    );
    expect(answer).toEqual({ words: 3 });
    expect(heard).toContainEqual({ fraction: 0.5, note: 'half of it' });
  });

  it('is streamed from', async () => {
    await using system = await team();
    const words: unknown[] = [];
    for await (const word of system.stream(at('words.spell'), { text: 'one two three' })) words.push(word);
    expect(words).toEqual(['one', 'two', 'three']);
  });

  it('declines in the words of its own', async () => {
    await using system = await team();
    const asked = system.ask(at('words.count'), { text: 'refuse it' });
    await expect(asked).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('not this one'),
    });
    await expect(system.ask(at('words.count'), { text: 5 })).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
    });
  });

  it('is cancelled there when it is cancelled here, in mid-work (F-04)', async () => {
    await using system = await team();
    const cancelled = b.hears('cancelled');
    const stopping = new AbortController();
    const asked = system.ask(
      at('words.wait'),
      {},
      { signal: stopping.signal, onProgress: () => stopping.abort() },
    );
    await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
    await cancelled;
  });

  it('has no more time there than here (C-15, F-04)', async () => {
    await using system = await team();
    const cancelled = b.hears('cancelled');
    const asked = system.ask(at('words.wait'), {}, { timeoutMs: 3_000 });
    await expect(asked).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await cancelled;
    const { leftMs } = (await system.ask(at('words.terms'), {}, { timeoutMs: 9_000 })) as {
      leftMs: number;
    };
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(9_000);
  });

  it('spends there what it was granted here, and no more (F-04)', async () => {
    await using system = await team();
    using account = system.openAccount({ tokens: 10 });
    expect(await account.ask(at('words.count'), { text: 'one two three' })).toEqual({ words: 3 });
    expect(account.spent.tokens).toBe(3);
    expect(account.left).toMatchObject({ tokens: 7 });
    const tooMuch = account.ask(at('words.count'), { text: 'a b c d e f g h i j' });
    await expect(tooMuch).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' });
    expect(account.spent.tokens).toBe(3);
    const { budget } = (await account.ask(at('words.terms'), {}, { budget: { tokens: 4, hops: 3 } })) as {
      budget: unknown;
    };
    expect(budget).toMatchObject({ tokens: 4, hops: 2 });
    expect(account.left).toMatchObject({ tokens: 7 });
    const nowhere = system.ask(at('words.terms'), {}, { budget: { hops: 0 } });
    await expect(nowhere).rejects.toMatchObject({ code: 'HOP_LIMIT' });
  });

  it('never lets many requests at once spend more than there is', async () => {
    const maxBudget = { tokens: 4 };
    const [one, two, three] = await Promise.all(
      ['one', 'two', 'three'].map((id) => remoteAgent(`${b.url}/mars`, { self: 'a', id, maxBudget })),
    );
    await using system = await startSystem({
      agents: [one, two, three].filter((agent) => agent !== undefined),
    });
    using account = system.openAccount({ tokens: 8 });
    const asked = ['one', 'two', 'three'].map((agent) =>
      account.ask({ agent, capability: some('words.count') }, { text: 'a b c' }),
    );
    const done = await Promise.allSettled(asked);
    const words = done.filter(({ status }) => status === 'fulfilled').length * 3;
    expect(account.spent.tokens).toBe(words);
    expect(words).toBeLessThanOrEqual(8);
    expect(words).toBeGreaterThan(0);
  });

  it('asks back: who asked goes on with its task', async () => {
    await using system = await team();
    const error = await system.ask(at('words.ask'), {}).catch((thrown: unknown) => thrown);
    if (!isOrreryError(error)) throw new Error('no question');
    expect(error).toMatchObject({ code: 'INPUT_REQUIRED', details: { question: 'which one?' } });
    const a2a = { ...(error.details['a2a'] as object), answer: 'this one' };
    expect(await system.ask(at('words.ask'), {}, { metadata: { a2a } })).toBe('it is "this one"');
  });

  it('is proposed to, and takes a task on', async () => {
    await using system = await team();
    const proposal = await system.negotiator.propose(
      {
        taskDescription: 'Count',
        requiredCapabilities: ['words.count'],
        estimatedComplexity: 'simple',
        deadlineMs: 10_000,
      },
      { to: MARS },
    );
    expect(proposal).toMatchObject({ status: 'accepted', acceptedBy: MARS, estimatedCompletionMs: 1_234 });
    const refused = b.hears('refused');
    await system.negotiator.release(proposal.proposalId);
    expect(await refused).toEqual({ refused: 'COMPLETED' });
  });

  it('is swarmed with', async () => {
    await using system = await team();
    const swarm = await system.swarms.createSwarm('Say the terms', ['words.terms'], {
      plan: [
        {
          id: 'terms',
          description: 'terms',
          capability: 'words.terms',
          requiredCapabilities: ['words.terms'],
          input: {},
        },
      ],
    });
    const outcome = await system.swarms.outcome(swarm.id);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(outcome)).toContain('"epoch":1');
  });

  it('asks the owner of the task here, when it is one that it works for (X-51)', async () => {
    await using system = await team({ sandboxId: null });
    const tasks = await openSystemTasks(system, { seams: systemSeams() });
    const owner = { principalId: 'anybody' };
    const say = (parts: Part[], taskId?: string) =>
      tasks.send(owner, {
        agentId: MARS,
        message: { messageId: crypto.randomUUID(), role: 'user', parts },
        ...(taskId === undefined ? {} : { taskId }),
      });
    const { id } = await say([{ data: { tool: 'words.ask', arguments: { of: 1 } } }]);
    const asked = await tasks.whenIdle(owner, id);
    expect(asked.status).toMatchObject({
      state: 'input-required',
      message: { parts: [{ text: 'which one?' }] },
    });
    await say([{ text: 'this one' }], id);
    const done = await tasks.whenIdle(owner, id);
    expect(done).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: 'it is "this one"' }] }],
    });
    await tasks.close();
  });

  it('is not believed when it answers with something else than it said', async () => {
    await using agent = await ScriptedAgent.listen();
    const skills = {
      talk: {
        input: { type: 'string' },
        output: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      },
    };
    const params = { node: 'c', skills };
    const extensions = [{ uri: DELEGATION_URI, params }];
    agent.card = (base) => cardOf(base, { capabilities: { streaming: true, extensions } });
    let text = '{"n": 5}';
    agent.answer = (call) => {
      const artifacts = [{ artifactId: 'r', parts: [{ data: JSON.parse(text) }] }];
      stream(call)({ task: scripted('t', 'COMPLETED', artifacts) });
    };
    await using system = await startSystem({
      agents: [await remoteAgent(agent.url, { self: 'a', id: 'c/liar' })],
    });
    const talk = { agent: 'c/liar', capability: some('talk') };
    expect(await system.ask(talk, 'go')).toEqual({ n: 5 });
    text = '{"n": "many"}';
    await expect(system.ask(talk, 'go')).rejects.toMatchObject({
      code: 'REFUSED',
      details: { capability: 'talk' },
    });
    await expect(system.ask(talk, 5)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  it('runs in a worker thread, by a module', async () => {
    process.env['REMOTE_MARS'] = `${b.url}/mars`;
    const module = new URL('../fixtures/agents/remote-mars.agent.ts', import.meta.url);
    await using system = await startSystem({ agents: [{ module }] });
    const [row] = await system.roster();
    expect(row).toMatchObject({ id: MARS, place: expect.stringContaining('worker') });
    expect(await system.ask(at('words.count'), { text: 'one two' })).toEqual({ words: 2 });
  });

  it('is worked with over a stream that is cut, and gives each value once', async () => {
    const { clock, random } = systemSeams();
    await using proxy = await FaultProxy.listen({ target: { port: b.port }, clock, random });
    const client = { backoffMs: 5, maxBackoffMs: 20 };
    const mars = await remoteAgent(`http://127.0.0.1:${proxy.port}/mars`, { self: 'a', client });
    await using system = await startSystem({ agents: [mars] });
    const text = Array.from({ length: 40 }, (_, at) => `w${at}`).join(' ');
    const words: unknown[] = [];
    for await (const word of system.stream(at('words.slowly'), { text })) {
      words.push(word);
      if (words.length % 10 === 5) proxy.cut();
    }
    expect(words.join(' ')).toBe(text);
  });

  it('that dies is REMOTE_UNREACHABLE, and lives on here; what it was granted counts as spent', async () => {
    await using other = await RemoteSystem.start('b');
    const client = { attempts: 2, backoffMs: 5, maxBackoffMs: 10 };
    const mars = await remoteAgent(`${other.url}/mars`, { self: 'a', client });
    await using system = await startSystem({ agents: [mars] });
    using account = system.openAccount({ tokens: 10 });
    const waiting = account.ask(
      at('words.wait'),
      {},
      { budget: { tokens: 6 }, onProgress: () => other.kill() },
    );
    await expect(waiting).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' });
    expect(account.spent.tokens).toBe(6);
    await expect(account.ask(at('words.count'), { text: 'x' })).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
    expect(account.spent.tokens).toBe(6);
    expect(await system.roster()).toMatchObject([{ id: MARS, restarts: 0 }]);
    await expect(remoteAgent(`${other.url}/mars`, { client })).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
    });
  });
});

describe('two systems that ask each other (F-05)', () => {
  it.each([
    ['where it would go out again', undefined],
    ['where it comes back, whatever the agent is called there', 'somebody'],
  ])('refuse a circle before any work: %s', async (_, id) => {
    await using a = await RemoteSystem.start('a');
    await using b = await RemoteSystem.start('b');
    const join = async (one: RemoteSystem, how: object): Promise<void> => {
      const joined = one.hears('joined');
      one.say({ ...how });
      await joined;
    };
    await join(a, { peer: `${b.url}/mars` });
    await join(b, { peer: `${a.url}/caller`, ...(id === undefined ? {} : { id }) });
    const [answer, circled] = [a.hears('answer'), b.hears('circled')];
    a.say({ ask: true });
    const message = expect.stringContaining('already works on "calls.call"');
    expect(await answer).toMatchObject({ answer: { code: 'PATH_LOOP', message } });
    // It tells so over a line of its own.
    await circled;
    expect(b.told.filter((told) => 'circled' in told)).toHaveLength(1);
  });
});
