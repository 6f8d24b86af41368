import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem, type Team } from 'orrery';
import { toolsOf } from 'orrery/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDirectly, awaitUpdate, look, study, use } from '../fixtures/agents/reading.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const ISOLATIONS = ['inline', 'thread', 'process'] as const;
const folder = mkdtempSync(join(tmpdir(), 'orrery-tools-'));

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('It resolved');
    },
    (error: { code: string; message: string; details: Record<string, unknown> }) => error,
  );

describe.each(ISOLATIONS)('Tools of an agent that is run %s', (isolation) => {
  const granted = isolation === 'process' ? { permissions: { write: [folder] } } : {};
  let system: Team;
  beforeAll(async () => {
    system = await startSystem({
      agents: [agent('library', { isolation, ...granted }), agent('reader'), agent('sluice', { isolation })],
    });
  });
  afterAll(() => system.stop());

  it('are listed with both schemas and called by their full and portable names (N-5.1, N-5.2, N-5.3, N-5.6, C-28)', async () => {
    const tools = toolsOf(system);
    expect(toolsOf(system)).toBe(tools);
    expect(tools.tools()).toBe(tools.tools());
    const names = tools.tools().map(({ name }) => name);
    expect(names).toContain('library.find');
    expect(names).toContain('reader.use');
    expect(names).not.toContain('library.due');
    expect(tools.tool('library__find')).toBe(tools.tool('library.find'));
    expect(tools.tool('library.find')).toMatchObject({
      title: 'Find a book',
      agentId: 'library',
      capability: 'find',
      annotations: { readOnly: true },
      inputSchema: { type: 'object', required: ['title'] },
      outputSchema: { type: 'object', properties: { shelf: { type: 'integer' } } },
      streams: false,
    });
    const found = { title: 'Emma', shelf: 4, sender: 'system/host' };
    expect(await tools.call('library.find', { title: 'Emma' })).toEqual(found);
    expect(await tools.call('library__find', { title: 'Emma' })).toEqual(found);
    expect(await tools.call('library.pages', { count: 5 })).toEqual([1, 2, 3, 4, 5]);
    expect(tools.invocations().slice(-3)).toMatchObject([
      { tool: 'library.find', agentId: 'library', arguments: { title: 'Emma' }, result: found },
      { tool: 'library.find' },
      { tool: 'library.pages', result: [1, 2, 3, 4, 5] },
    ]);
  });

  it('say what is wrong, and whose tool it was (N-5.4)', async () => {
    const tools = toolsOf(system);
    expect(await failure(tools.call('library.fnd', {}))).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: 'There is no tool "library.fnd"',
    });
    expect(await failure(tools.call('library.due', undefined))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    const wrong = await failure(tools.call('library.find', { title: 7 }));
    expect(wrong).toMatchObject({ code: 'INVALID_PAYLOAD', details: { agentId: 'library' } });
    expect(wrong.message).toContain('title is 7, expected ');
    expect(await failure(tools.call('library.misfile', {}))).toMatchObject({
      code: 'REFUSED',
      details: { agentId: 'library' },
    });
    expect(await failure(tools.call('library.burn', { title: 'the last' }))).toMatchObject({
      code: 'REFUSED',
      details: { agentId: 'library', retryAfterMs: 500 },
    });
    expect(await failure(tools.call('library.burn', { title: 5n }))).toMatchObject({
      code: 'NOT_SERIALISABLE',
    });
    expect(await failure(tools.call('library.burn', { title: 'x' }, { readOnly: true }))).toMatchObject({
      code: 'NOT_PERMITTED',
      details: { agentId: 'library' },
    });
    expect(await tools.call('library.find', { title: 'x' }, { readOnly: true })).toMatchObject({ shelf: 1 });
    expect(tools.invocations().at(-2)).toMatchObject({
      tool: 'library.burn',
      error: { code: 'NOT_PERMITTED', message: expect.any(String), agentId: 'library' },
    });
    expect((await rejection(tools.call('library.find', {}, { as: { id: '', tier: 3 } }))).message).toContain(
      'as.id',
    );
    expect((await rejection(tools.call('library.find', {}, { metadata: { path: [] } }))).message).toContain(
      'metadata.path',
    );
  });

  it('that die in the middle are told, and not called again (N-V03, C-36)', async () => {
    const file = join(folder, `collapsed-${isolation}`);
    const tools = toolsOf(system);
    expect(await failure(tools.call('library.collapse', { file }))).toMatchObject({
      code: 'HANDLER_FAILED',
      details: { agentId: 'library' },
    });
    expect(await tools.call('library.find', { title: 'Emma' })).toMatchObject({ shelf: 4 });
    expect(readFileSync(file, 'utf8')).toBe('.');
  });

  it('end when they are cancelled or their time is over, and say how far they are meanwhile', async () => {
    const tools = toolsOf(system);
    const abort = new AbortController();
    const heard: unknown[] = [];
    const call = tools.call(
      'library.browse',
      {},
      {
        signal: abort.signal,
        onProgress: (progress) => heard.push(progress),
        onReport: (report) => {
          heard.push(report);
          abort.abort();
        },
      },
    );
    expect(await failure(call)).toMatchObject({ code: 'CANCELLED', details: { agentId: 'library' } });
    expect(heard).toEqual([{ fraction: 0.5, note: 'half' }, { at: 'page 5' }]);
    await until('it was cut off', async () => {
      const { count } = (await tools.call('library.cut-off', {})) as { count: number };
      return count === 1;
    });
    const late = tools.call('library.browse', {}, { deadlineAtMs: Date.now() + 100 });
    expect(await failure(late)).toMatchObject({ code: 'DEADLINE_EXCEEDED', details: { agentId: 'library' } });
  });

  it('spend what they are given', async () => {
    const tools = toolsOf(system);
    expect(await tools.call('library.spend', { tokens: 3 }, { budget: { tokens: 10 } })).toEqual({ left: 7 });
    expect(
      await failure(tools.call('library.spend', { tokens: 30 }, { budget: { tokens: 10 } })),
    ).toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
  });

  it('are called by other agents across threads, by sandbox and not by tier (N-T04, DESIGN 6)', async () => {
    expect(await rejection(system.ask(askDirectly, {}))).toMatchObject({ code: 'TIER_VIOLATION' });
    const asked = { tool: 'library.find', arguments: { title: 'Emma' } };
    expect(await system.ask(use, asked)).toEqual({ title: 'Emma', shelf: 4, sender: 'reader' });
    expect(await system.ask(look, {})).toMatchObject({
      tools: expect.arrayContaining(['library.find', 'reader.use']),
      resources: expect.arrayContaining(['library://catalogue']),
      calls: 1,
    });
    const outsider = { as: { id: 'somebody', tier: 1 } } as const;
    expect(await toolsOf(system).call('library.find', { title: 'Emma' }, outsider)).toMatchObject({
      shelf: 4,
    });

    const events = await system.recentEvents();
    expect(events.filter(({ type }) => type === 'tool-invocation').slice(-2)).toMatchObject([
      { toolName: 'library.find', agentId: 'library', sender: 'reader', success: true },
      { toolName: 'library.find', sender: 'somebody', duration: expect.any(Number) },
    ]);
  });

  it('offer resources, templates and prompts beside them (N-6.1, N-6.2, N-6.3, N-6.4, N-6.5)', async () => {
    const tools = toolsOf(system);
    expect(tools.resources()).toContainEqual({
      uri: 'library://catalogue',
      name: 'catalogue',
      title: 'All books',
      mimeType: 'text/markdown',
      agentId: 'library',
    });
    const catalogue = (text: string) => [{ uri: 'library://catalogue', mimeType: 'text/markdown', text }];
    expect(await tools.read('library://catalogue')).toEqual(catalogue('# Books, read 1 times'));
    expect(await tools.read('library://catalogue')).toEqual(catalogue('# Books, read 2 times'));
    expect(await tools.read('library://cover')).toEqual([
      { uri: 'library://cover', mimeType: 'image/png', blob: 'AQL/' },
    ]);
    const book = 'library://books/Ethan%20Frome%3F1';
    expect(await tools.read(book)).toEqual([
      { uri: book, mimeType: 'text/plain', text: 'Ethan Frome?1' },
      { uri: `${book}#end`, mimeType: 'text/x-end', text: 'The end' },
    ]);
    for (const uri of [
      'library://nothing',
      'library://gone',
      'library://books/a/b',
      'library://books/%2e%2E',
      'library://books/a%2F..',
    ])
      expect(await rejection(tools.read(uri))).toEqual({
        code: 'RESOURCE_NOT_FOUND',
        message: `There is no resource ${uri}`,
      });
    expect(await failure(tools.read('library://broken'))).toMatchObject({
      code: 'REFUSED',
      details: { agentId: 'library' },
    });

    const own = tools.prompts().filter(({ agentId }) => agentId === 'library');
    expect(own.map(({ name }) => name)).toEqual(['library.review', 'library.compare', 'library.fresh']);
    expect(await tools.render('library__review', { book: '{{tone}}', tone: 'kindly' })).toEqual({
      description: 'A review of a book',
      messages: [{ role: 'user', content: { type: 'text', text: 'Review {{tone}} kindly!' } }],
    });
    expect(await tools.render('library.compare', { one: 'A', other: 'B' })).toEqual({
      messages: [
        { role: 'user', content: { type: 'text', text: 'Compare A' } },
        {
          role: 'assistant',
          content: {
            type: 'resource',
            resource: { uri: 'library://books/B', mimeType: '{{text}}/plain', text: 'with B' },
          },
        },
      ],
    });
    expect(await tools.render('library.fresh', { day: 'Monday' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'library on Monday' } }],
    });
    expect((await rejection(tools.render('library.review', {}))).message).toContain('book: required');
    expect(await rejection(tools.render('library.review', { book: 'x', colour: 'red' }))).toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('colour'),
    });
    expect(await rejection(tools.render('library.nothing', {}))).toMatchObject({ code: 'PROMPT_NOT_FOUND' });

    const of = { uriTemplate: 'library://books/{title}' };
    expect(await tools.complete({ of, argument: 'title', value: 'e' })).toEqual(['Emma', 'Ethan Frome']);
    const tone = { of: { prompt: 'library.review' }, argument: 'tone', value: 'a' };
    expect(await tools.complete({ ...tone, others: { book: 'B' } })).toEqual(['a-B-library']);
    expect(await tools.complete({ ...tone, argument: 'book' })).toEqual([]);
    expect(await rejection(tools.complete({ ...tone, argument: 'bok' }))).toMatchObject({
      code: 'INVALID_PAYLOAD',
    });
    const [read, rendered] = (await system.ask(study, {
      uri: 'library://cover',
      prompt: 'library.fresh',
    })) as [unknown[], { messages: unknown[] }];
    expect([read.length, rendered.messages.length]).toEqual([1, 1]);
  });

  it('are offered by a state machine, too, which is told nothing of it', async () => {
    const tools = toolsOf(system);
    expect(await tools.read('sluice://plan')).toEqual([{ uri: 'sluice://plan', text: 'The plan of sluice' }]);
    const { messages } = await tools.render('sluice.warn', { whom: 'boats' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Warn boats' } }]);
    expect(await tools.call('sluice.raise', {})).toBe('raised, down');
    expect(await tools.complete({ of: { prompt: 'sluice.warn' }, argument: 'whom', value: 'b' })).toEqual([]);
  });

  it('are heard of by whoever listens when a resource changes', async () => {
    const tools = toolsOf(system);
    const restock = (uri: string) => tools.call('library.restock', { uri });
    const heard: string[] = [];
    // Nobody can listen yet, and nobody minds.
    await restock('library://early');
    const release = tools.onUpdate((uri) => heard.push(uri));
    // Threads come to know the embedder one after the other.
    await until('the embedder has heard', async () => {
      await restock('library://catalogue');
      return heard.includes('library://catalogue');
    });
    let hasHeard = false;
    let rounds = 0;
    const update = system.ask(awaitUpdate, {}).finally(() => {
      hasHeard = true;
    });
    await until('the agent has heard', async () => {
      // What is nobody's is not told to an agent.
      await restock('nobody://x');
      await restock('library://cover');
      rounds += 1;
      return hasHeard;
    });
    expect(await update).toEqual({ uri: 'library://cover' });
    const covers = () => heard.filter((uri) => uri === 'library://cover').length;
    await until('the embedder has heard all of that', () => covers() === rounds);
    heard.length = 0;
    await restock('nobody://x');
    await restock('library://cover');
    await until('the embedder has heard of both', () => heard.length === 2);
    expect(heard).toEqual(['nobody://x', 'library://cover']);
    release();
    await tools.call('library.restock', { uri: 'library://catalogue' });
    await tools.call('library.find', { title: 'x' });
    expect(heard).toHaveLength(2);
  });
});
