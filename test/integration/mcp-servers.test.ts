import { fileURLToPath } from 'node:url';
import { isOrreryError, startSystem, type SystemEvent } from 'orrery';
import { mcpServer } from 'orrery/mcp';
import { toolsOf } from 'orrery/tools';
import { describe, expect, it } from 'vitest';
import { identityOf, isAlive, type ProcessIdentity } from '../../runtime/os/process-identity.ts';
import { addThere } from '../fixtures/agents/mcp-user.ts';
import { badServer, program, textOf, toolOf } from '../fixtures/mcp/mounted.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const every = (options: object = {}) => mcpServer({ id: 'every', ...program('stdio-server'), ...options });
const badProgram = (...flags: readonly string[]) => program('bad-server', ...flags);
const bad = (tool: string) => toolOf('bad', tool);
const patient = { timeoutMs: 20_000 };

type Team = Awaited<ReturnType<typeof startSystem>>;
const pidOf = async (system: Team, id = 'bad'): Promise<ProcessIdentity> =>
  identityOf(Number(textOf(await system.ask(toolOf(id, 'pid'), {}, patient)))) as ProcessIdentity;
const crashesOf = async (system: Team): Promise<readonly SystemEvent[]> =>
  (await system.recentEvents()).filter(({ type }) => type === 'agent-crashed');

describe('an MCP server as a member of a team (N-D11)', () => {
  it('offers what it lists, under names that are ids here', async () => {
    await using system = await startSystem({ agents: [every()] });
    const card = system.registry.getById('every');
    expect(card).toMatchObject({ tier: 3, protocols: ['mcp'] });
    const ids = card?.capabilities.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['add', 'dotted_u2f_name_u20_here', 'picture']));
    expect(card?.capabilities.find(({ id }) => id === 'add')).toMatchObject({
      name: 'Addition',
      inputSchema: { required: ['a', 'b'] },
      outputSchema: { properties: { sum: { type: 'number' } } },
      readOnly: true,
      isContent: true,
    });
    expect(card?.resources).toMatchObject([{ uri: 'note://a', name: 'note', description: 'A note' }]);
    expect(card?.resourceTemplates).toMatchObject([{ uriTemplate: 'log://{day}' }]);
    expect(card?.prompts).toMatchObject([{ name: 'greet', arguments: [{ name: 'who', required: true }] }]);
  });

  it('is used by the tool host as any other agent is (N-5.3, N-6.2, N-6.5)', async () => {
    await using system = await startSystem({ agents: [every()] });
    const tools = toolsOf(system);
    expect(await tools.call('every.add', { a: 1, b: 2 })).toEqual({
      content: [{ type: 'text', text: '3' }],
      structured: { sum: 3 },
    });
    expect(await tools.call('every.picture', {})).toEqual({
      content: [
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'note://a', text: 'inside' } },
      ],
    });
    expect(await tools.call('every.fails', {})).toMatchObject({ isError: true });
    expect(textOf(await tools.call('every.dotted_u2f_name_u20_here', {}))).toBe('called by its name');
    expect(await tools.read('note://a')).toEqual([
      { uri: 'note://a', mimeType: 'text/plain', text: 'what it says' },
    ]);
    expect(await tools.read('log://monday')).toMatchObject([{ text: 'the log of monday' }]);
    expect(await tools.render('every.greet', { who: 'Bo' })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Greet Bo' } }],
    });
    const completing = { of: { uriTemplate: 'log://{day}' }, argument: 'day', value: 'm' };
    expect(await tools.complete(completing)).toContain('monday');
  });

  it('refuses arguments that do not fit before they are sent, naming the field', async () => {
    await using system = await startSystem({ agents: [every()] });
    expect(await rejection(system.ask(toolOf('every', 'add'), { a: 1, b: 'two' }))).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('b is "two", expected a number'),
    });
  });

  it('is told nothing of the environment but what it is given', async () => {
    process.env['ORRERY_SECRET'] = 'hush';
    await using system = await startSystem({ agents: [every({ env: { GIVEN: 'yes' } })] });
    const told = JSON.parse(textOf(await system.ask(toolOf('every', 'env'), {}))) as Record<string, string>;
    expect(told).toMatchObject({ GIVEN: 'yes', PATH: process.env['PATH'] });
    expect(told).not.toHaveProperty('ORRERY_SECRET');
  });

  it('works for agents in threads, end to end, and its answers are tainted (F-09, N-T04)', async () => {
    await using system = await startSystem({ agents: [agent('mcp-everything'), agent('mcp-user')] });
    const heard: string[] = [];
    const answer = await system.ask(
      addThere,
      { a: 20, b: 22 },
      { ...patient, onTaint: (taint) => heard.push(...taint) },
    );
    expect(answer).toEqual({ sum: 42, taint: ['mcp:every'] });
    expect(heard).toContain('mcp:every');
  });

  it('is only as much as is wanted, and privileged where that is said (F-09)', async () => {
    await using system = await startSystem({
      agents: [every({ tools: ['add', 'fails'], privileged: ['fails'], grantedTier: 2, sandboxId: 'apart' })],
    });
    const { capabilities = [], tier, sandboxId } = system.registry.getById('every') ?? {};
    expect(capabilities.map(({ id, privileged }) => [id, privileged])).toEqual([
      ['add', undefined],
      ['fails', true],
    ]);
    expect([tier, sandboxId]).toEqual([2, 'apart']);
    const tainted = { taint: ['web:example.org'] };
    expect(await rejection(system.ask(toolOf('every', 'fails'), {}, tainted))).toMatchObject({
      code: 'TAINTED',
    });
    expect(await system.ask(toolOf('every', 'add'), { a: 1, b: 1 }, tainted)).toMatchObject({
      structured: { sum: 2 },
    });
  });

  it.each([
    [{ id: 'x' }, 'mcpServer.command'],
    [{ id: 'x', command: 'a', url: 'http://localhost' }, 'mcpServer.command'],
    [{ id: 'x', command: 'a', headers: { a: 'b' } }, 'mcpServer.headers'],
    [{ id: 'x y', command: 'a' }, 'agent.id'],
    [{ id: 'x', command: 'a', grantedTier: 0 }, 'mcpServer.grantedTier'],
    [{ id: 'x', command: 'a', comand: 'b' }, 'mcpServer.comand'],
  ])('refuses options that are none: %j', (options, field) => {
    try {
      mcpServer(options as never);
      expect.unreachable();
    } catch (error) {
      expect(isOrreryError(error) && [error.code, error.details['field']]).toEqual([
        'INVALID_OPTIONS',
        field,
      ]);
    }
  });
});

describe('an MCP server that changes', () => {
  it('has other tools on its card when it says so; one that is gone is not found', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    const tools = toolsOf(system);
    const isThere = (tool: string): boolean =>
      system.registry.getById('bad')?.capabilities.some(({ id }) => id === tool) === true;
    await system.ask(bad('change'), { tools: ['pid', 'calls', 'change', 'brand-new'] });
    await until('the new tool is there', () => isThere('brand-new'));
    expect(isThere('big')).toBe(false);
    expect(tools.tool('bad.brand-new')).toBeDefined();
    expect(tools.tool('bad.big')).toBeUndefined();
    expect(await rejection(system.ask(bad('big'), { bytes: 1 }))).toMatchObject({
      code: 'CAPABILITY_NOT_FOUND',
    });
    await system.ask(bad('change'), { tools: ['pid', 'big'] });
    await until('the old one is back', () => isThere('big'));
    expect(textOf(await system.ask(bad('big'), { bytes: 3 }))).toBe('zzz');
  });

  it('has what it offers on its card also when its agent is given other code', async () => {
    const { module } = agent('mcp-everything');
    await using system = await startSystem({ agents: [{ module }] });
    await system.upgrade('every', { module: new URL(`${module.href}?again`) });
    expect(await system.ask(toolOf('every', 'add'), { a: 1, b: 1 })).toMatchObject({
      structured: { sum: 2 },
    });
    expect(system.registry.getById('every')?.prompts).toHaveLength(1);
  });

  it('of 2026-07-28 says so in a stream that is asked for', async () => {
    await using system = await startSystem({ agents: [every()] });
    await system.ask(toolOf('every', 'appear'), {});
    await until('it appears', () =>
      system.registry.getById('every')?.capabilities.some(({ id }) => id === 'appeared'),
    );
    expect(textOf(await system.ask(toolOf('every', 'appeared'), {}))).toBe('here I am');
  });
});

describe('an MCP server that misbehaves', () => {
  it('crashes: what is in hand is told, once, and the next is answered by another process (N-V03, C-36)', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    const before = await pidOf(system);
    expect(await rejection(system.ask(bad('crash'), {}, patient))).toMatchObject({
      code: 'ACTOR_DIED',
      message: expect.stringMatching(/exit code 7; it said: out of luck/),
    });
    const after = await pidOf(system);
    expect(after.pid).not.toBe(before.pid);
    // It counts what it has been asked to do: the call that it died of was not made again.
    expect(textOf(await system.ask(bad('calls'), {}))).toBe('2');
    expect(await crashesOf(system)).toHaveLength(1);
  });

  it('dies while nobody asks it for anything: it is started again', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    const before = await pidOf(system);
    process.kill(before.pid, 'SIGKILL');
    await until('it has crashed', async () => (await crashesOf(system)).length > 0);
    expect((await pidOf(system)).pid).not.toBe(before.pid);
  });

  it('hangs: the call ends with its deadline, and a server that says nothing at all is another one then', async () => {
    await using system = await startSystem({ agents: [badServer({ answerMs: 200 })] });
    const before = await pidOf(system);
    expect(await rejection(system.ask(bad('hang'), {}, { timeoutMs: 2_000 }))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    await until('it has crashed', async () => (await crashesOf(system)).length > 0);
    expect((await pidOf(system)).pid).not.toBe(before.pid);
    await until('the old one is gone', () => !isAlive(before));
  });

  it('hangs: of what waits one is not sent and told so, and the others wait for the next server', async () => {
    await using system = await startSystem({ agents: [badServer({ answerMs: 500, concurrency: 1 })] });
    const before = await pidOf(system);
    const hanging = rejection(system.ask(bad('hang'), {}, { timeoutMs: 2_000 }));
    const next = rejection(system.ask(bad('calls'), {}, patient));
    const others = [system.ask(bad('pid'), {}, patient), system.ask(bad('pid'), {}, patient)];
    expect(await hanging).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await next).toMatchObject({
      code: 'ACTOR_DIED',
      message: expect.stringContaining('within 500 ms; what it was to be asked next was not sent'),
    });
    const [first, second] = (await Promise.all(others)).map(textOf);
    expect(first).not.toBe(String(before.pid));
    expect(second).toBe(first);
    const log = (await system.recentEvents()).filter(({ type }) => type === 'server-log');
    expect(log.map(({ reason }) => reason)).not.toContainEqual(expect.stringContaining('is asked for'));
  });

  it('has calls worked at side by side, as many as may be, each with its own end (N-5.3)', async () => {
    await using system = await startSystem({ agents: [badServer({ concurrency: 12 })] });
    // Its server answers the first of these when it has all ten.
    const together = Array.from({ length: 10 }, () => system.ask(bad('together'), { calls: 10 }, patient));
    expect((await Promise.all(together)).map(textOf).sort()).toEqual([...'0123456789']);

    // Twelve are under way: the next begins when one of them has ended, and only that one ends.
    const begun = new Set<number>();
    const ends = Array.from({ length: 13 }, () => new AbortController());
    const outcomes = ends.map(({ signal }, at) => {
      const onProgress = (): void => void begun.add(at);
      return rejection(system.ask(bad('silent'), {}, { ...patient, signal, onProgress }));
    });
    await until('as many have begun as may', () => begun.size === 12);
    expect(begun.has(12)).toBe(false);
    ends[5]?.abort();
    expect(await outcomes[5]).toMatchObject({ code: 'CANCELLED' });
    await until('the last has begun', () => begun.has(12));
    ends[7]?.abort();
    expect(await outcomes[7]).toMatchObject({ code: 'CANCELLED' });
    expect(textOf(await system.ask(bad('cancelled'), {}, patient))).toBe('2');

    // What is in hand when the server ends is told, each of them, once.
    const crashed = rejection(system.ask(bad('crash'), {}, patient));
    const others = outcomes.filter((_, at) => at !== 5 && at !== 7);
    for (const outcome of [crashed, ...others]) expect(await outcome).toMatchObject({ code: 'ACTOR_DIED' });
    expect((await pidOf(system)).pid).toBeGreaterThan(0);
    const { holds, handled, rejected, expired, deadLettered } = await system.conservation();
    expect({ holds, rejected, expired, deadLettered }).toEqual({
      holds: true,
      rejected: 0,
      expired: 2,
      deadLettered: 12,
    });
    expect(handled).toBe(12);
  });

  it('has a tool that can only be called as a task: it is, once, and cancelled there when nobody waits (N-5.3)', async () => {
    await using system = await startSystem({ agents: [badServer({ silenceMs: 2_000 })] });
    const notes: unknown[] = [];
    const onProgress = ({ note }: { readonly note?: string | undefined }): void => void notes.push(note);
    const slowly = (input: object, options: object = {}) =>
      system.ask(bad('slowly'), input, { ...patient, ...options });
    expect(textOf(await slowly({ looks: 3 }, { onProgress }))).toBe('task t-0, of 1');
    expect(notes).toContain('it is working');
    expect(await rejection(slowly({ looks: 1, ends: 'cancelled' }))).toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('it cancelled the task: it is cancelled'),
    });
    const end = new AbortController();
    const begun = Promise.withResolvers<void>();
    const endless = { signal: end.signal, onProgress: () => begun.resolve() };
    const unending = rejection(slowly({ looks: 1_000_000 }, endless));
    await begun.promise;
    end.abort();
    expect(await unending).toMatchObject({ code: 'CANCELLED' });
    await until(
      'it is cancelled there',
      async () => textOf(await system.ask(bad('cancelled'), {}, patient)) === '1',
    );
    expect(textOf(await slowly({ looks: 1 }))).toBe('task t-3, of 4');
  });

  it('does one thing at a time where that is said: what waits too long is never begun; under another id it is there at once', async () => {
    const other = mcpServer({ id: 'other', ...program('bad-server') });
    await using system = await startSystem({ agents: [badServer({ concurrency: 1 }), other] });
    const ending = new AbortController();
    const slow = rejection(system.ask(bad('silent'), {}, { ...patient, signal: ending.signal }));
    expect(await rejection(system.ask(bad('pid'), {}, { timeoutMs: 300 }))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    expect((await pidOf(system, 'other')).pid).toBeGreaterThan(0);
    ending.abort();
    expect(await slow).toMatchObject({ code: 'CANCELLED' });
    expect(textOf(await system.ask(bad('calls'), {}, patient))).toBe('2');
  });

  it('says nothing of a call and answers others: the call ends, and nobody else', async () => {
    await using system = await startSystem({ agents: [badServer({ silenceMs: 2_000 })] });
    const before = await pidOf(system);
    expect(await rejection(system.ask(bad('silent'), {}, patient))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    expect((await pidOf(system)).pid).toBe(before.pid);
    expect(await crashesOf(system)).toEqual([]);
  });

  it('is waited for as long as it makes progress, and no longer than there is time', async () => {
    await using system = await startSystem({ agents: [badServer({ silenceMs: 3_000 })] });
    const heard: unknown[] = [];
    const options = { ...patient, onProgress: (one: unknown) => heard.push(one) };
    expect(textOf(await system.ask(bad('progress'), {}, options))).toBe('done');
    expect(heard).toContainEqual({ fraction: 0.4, note: 'step 2' });
    expect(await rejection(system.ask(bad('progress'), {}, { timeoutMs: 500 }))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
  });

  it('answers after the deadline: it has been told that nobody waits, and the answer is nobody’s', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    const before = await pidOf(system);
    const given = rejection(system.ask(bad('late'), {}, { timeoutMs: 1_000 }));
    const next = system.ask(bad('late'), {}, patient);
    expect(await given).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const controller = new AbortController();
    const onProgress = (): void => controller.abort();
    const asked = system.ask(bad('silent'), {}, { ...patient, signal: controller.signal, onProgress });
    expect(await rejection(asked)).toMatchObject({ code: 'CANCELLED' });
    await until('both were taken back', async () => textOf(await system.ask(bad('cancelled'), {})) === '2');
    // The answer that nobody waits for has come before this one.
    expect(textOf(await next)).toBe('too late');
    expect((await pidOf(system)).pid).toBe(before.pid);
  });

  it('floods its output, with what is no message or with messages: it is ended', async () => {
    await using system = await startSystem({ agents: [badServer({ maxUnaskedBytes: 200_000 })] });
    for (const [at, tool] of ['flood', 'notify'].entries()) {
      const before = await pidOf(system);
      expect(await rejection(system.ask(bad(tool), {}, patient))).toMatchObject({
        code: expect.stringMatching(/ACTOR_DIED|REMOTE_FAILED/),
      });
      await until('it is gone', () => !isAlive(before));
      await until('that is known', async () => (await crashesOf(system)).length === at + 1);
    }
    for (const { reason } of await crashesOf(system)) expect(reason).toMatch(/it floods/);
  });

  it('says what is no message, and its answer all the same', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    expect(textOf(await system.ask(bad('garbage'), {}))).toBe('after the garbage');
  });

  it('answers with 50 megabytes: that is no answer, and the next one is', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    const before = await pidOf(system);
    expect(await rejection(system.ask(bad('big'), { bytes: 50_000_000 }, patient))).toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('more than 4194304 bytes at once'),
    });
    expect((await pidOf(system)).pid).toBe(before.pid);
    expect(textOf(await system.ask(bad('big'), { bytes: 1_000_000 }))).toHaveLength(1_000_000);
  });

  it('is asked for more than may be sent: nothing is sent', async () => {
    await using system = await startSystem({ agents: [badServer({ maxMessageBytes: 10_000 })] });
    expect(await rejection(system.ask(bad('pid'), { text: 'x'.repeat(20_000) }))).toMatchObject({
      code: 'REMOTE_FAILED',
    });
    expect(textOf(await system.ask(bad('calls'), {}))).toBe('1');
  });

  it.each([
    ['is not found', { command: 'no-such-mcp-server' }, 'command', /exit code 127.*not found/],
    ['may not be executed', { command: fileURLToPath(import.meta.url) }, 'command', /exit code 126/],
    [
      'ends at once',
      badProgram('dead-on-arrival'),
      'command',
      /exit code 3; it said: there is no such database/,
    ],
    [
      'is started nowhere',
      { ...badProgram(), cwd: '/no/such/folder' },
      'cwd',
      /"\/no\/such\/folder", expected a folder/,
    ],
  ])(
    'is a program that %s: the start of the system fails, and says why (C-30)',
    async (_how, wrong, field, reason) => {
      const agents = [agent('mcp-user'), mcpServer({ id: 'bad', ...wrong })];
      const { code, message } = await rejection(startSystem({ agents }));
      expect(code).toBe('INVALID_OPTIONS');
      expect(message).toMatch(reason);
      expect(message.startsWith(`agents[1].${field} is "`)).toBe(true);
    },
  );

  it('is a wrong program for a running system: nothing of it is left; a right one is supervised as it says', async () => {
    await using system = await startSystem({ agents: [] });
    const wrong = badServer({}, 'dead-on-arrival');
    expect(await rejection(system.start([every(), wrong]))).toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringMatching(/^agents\[1\]\.command is ".*exit code 3; it said: there is no such/),
    });
    expect(system.registry.getById('bad')).toBeUndefined();
    expect((await system.roster()).map(({ id, status }) => [id, status])).toEqual([['every', 'running']]);
    // In its words, though nobody has asked it for anything (F-09).
    expect(await crashesOf(system)).toMatchObject([{ agentId: 'bad', taint: ['mcp:bad'] }]);
    await system.start([badServer({ supervision: { intensity: { maxRestarts: 0 }, halfOpen: false } })]);
    await rejection(system.ask(bad('crash'), {}, patient));
    const rowOf = async () => (await system.roster()).find(({ id }) => id === 'bad');
    await until('it is given up', async () => (await rowOf())?.status === 'failed');
    expect(await rowOf()).not.toHaveProperty('retryAtMs');
  });

  it.each([['exits-when-asked'], ['mute']])(
    'is of before 2026-07-28, and %s about what it does not know',
    async (flag) => {
      await using system = await startSystem({ agents: [badServer({ connectTimeoutMs: 4_000 }, flag)] });
      expect((await pidOf(system)).pid).toBeGreaterThan(0);
    },
  );

  it('ignores SIGTERM and the end of its input: it ends with its agent, with its thread, with the system', async () => {
    const ended: ProcessIdentity[] = [];
    {
      await using system = await startSystem({ agents: [badServer({}, 'deaf'), agent('mcp-everything')] });
      const first = await pidOf(system);
      await system.stopAgent('bad');
      expect(isAlive(first)).toBe(false);
    }
    {
      await using system = await startSystem({ agents: [agent('mcp-bad')] });
      const first = await pidOf(system);
      const place = (await system.roster()).find(({ id }) => id === 'bad')?.place as string;
      await system.terminate(place);
      await until('it is gone with its thread', () => !isAlive(first));
      ended.push(await pidOf(system));
    }
    for (const process of ended) expect(isAlive(process)).toBe(false);
  });

  it('writes to its log: a little of that is in the events', async () => {
    await using system = await startSystem({ agents: [badServer()] });
    await rejection(system.ask(bad('crash'), {}, patient));
    await until('it is noted', async () =>
      (await system.recentEvents()).some(
        ({ type, agentId, reason }) => type === 'server-log' && agentId === 'bad' && reason === 'out of luck',
      ),
    );
  });
});
