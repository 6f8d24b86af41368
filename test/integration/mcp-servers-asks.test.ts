import { startSystem } from 'orrery';
import { type McpServerOptions, mcpServer } from 'orrery/mcp';
import { toolsOf } from 'orrery/tools';
import { describe, expect, it } from 'vitest';
import { badServer, program, textOf, toolOf } from '../fixtures/mcp/mounted.ts';
import { rejection, until } from '../fixtures/until.ts';

const asking = (tool: string) => toolOf('asking', tool);
const patient = { timeoutMs: 20_000 };

type Revision = 'auto' | 'legacy';
const mounted = (revision: Revision, options: Partial<McpServerOptions> = {}) =>
  startSystem({ agents: [mcpServer({ id: 'asking', ...program('asking-server'), revision, ...options })] });

const KINDS = ['elicit', 'sample', 'roots'] as const;
const REVISIONS = ['auto', 'legacy'] as const;

describe('What an MCP server asks of whoever calls it', () => {
  it.each(REVISIONS)('is answered by whom it is given to: revision %s', async (revision) => {
    const asked: unknown[] = [];
    await using system = await mounted(revision, {
      elicit: (params) => {
        asked.push(params.message);
        return { action: 'accept', content: { name: 'Bo' } };
      },
      sample: async (params) => {
        asked.push(params.messages[0]?.content);
        return { role: 'assistant', model: 'none', content: { type: 'text', text: 'four' } };
      },
      roots: () => [{ uri: 'file:///srv', name: 'srv' }],
    });
    const answers: unknown[] = [];
    for (const kind of KINDS) answers.push(JSON.parse(textOf(await system.ask(asking(kind), {}, patient))));
    expect(answers).toEqual([
      { action: 'accept', content: { name: 'Bo' } },
      { role: 'assistant', model: 'none', content: { type: 'text', text: 'four' } },
      { roots: [{ uri: 'file:///srv', name: 'srv' }] },
    ]);
    expect(asked).toEqual(['What is your name?', { type: 'text', text: 'Two and two?' }]);
  });

  it('is asked of nobody where nobody answers: the server of 2026-07-28 refuses the call', async () => {
    await using system = await mounted('auto');
    for (const kind of KINDS)
      expect(await rejection(system.ask(asking(kind), {}, patient))).toMatchObject({
        code: 'REMOTE_FAILED',
        message: expect.stringContaining('do not declare the required capability'),
      });
  });

  it('is asked of nobody where nobody answers: a server of before does what it can without', async () => {
    await using system = await mounted('legacy');
    for (const kind of KINDS)
      expect(await system.ask(asking(kind), {}, patient)).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('did not declare the required capability') }],
      });
  });

  it.each([
    ['sampling/createMessage', { messages: [], maxTokens: 1 }],
    ['elicitation/create', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }],
    ['roots/list', undefined],
    ['something/else', {}],
  ])('is refused when it asks all the same: %s is METHOD_NOT_FOUND', async (method, params) => {
    await using system = await startSystem({ agents: [badServer()] });
    const answer = textOf(await system.ask(toolOf('bad', 'asks'), { method, params }, patient));
    expect(JSON.parse(answer)).toMatchObject({ code: -32_601 });
  });

  it('is told when whoever answers fails, and so is the caller', async () => {
    const elicit = () => {
      throw new Error('nobody is at home');
    };
    await using modern = await mounted('auto', { elicit });
    expect(await rejection(modern.ask(asking('elicit'), {}, patient))).toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('nobody is at home'),
    });
    await using legacy = await mounted('legacy', { elicit });
    expect(await legacy.ask(asking('elicit'), {}, patient)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('nobody is at home') }],
    });
  });

  it.each(REVISIONS)(
    'may take longer to answer than the server may be silent: revision %s',
    async (revision) => {
      const person = Promise.withResolvers<void>();
      let isOver = false;
      await using system = await mounted(revision, {
        silenceMs: 2_000,
        elicit: async () => {
          // More time than that passes; that it does is the point.
          setTimeout(person.resolve, 3_000);
          await person.promise;
          return { action: 'decline' };
        },
      });
      const answer = system.ask(asking('elicit'), {}, patient).finally(() => {
        isOver = true;
      });
      await person.promise;
      expect(isOver).toBe(false);
      expect(JSON.parse(textOf(await answer))).toEqual({ action: 'decline' });
    },
  );
});

describe('What a resource of an MCP server holds', () => {
  it.each(REVISIONS)('is something else: who listens hears of it, revision %s', async (revision) => {
    await using system = await mounted(revision);
    const heard = new Set<string>();
    const release = toolsOf(system).onUpdate((uri) => heard.add(uri));
    const touch = async (uri: string): Promise<string> => textOf(await system.ask(asking('touch'), { uri }));
    // Listening begins when it has reached the agent, and the server, which nobody can tell.
    await until('it is heard', async () => {
      await touch('note://two');
      return heard.size > 0;
    });
    expect([...heard]).toEqual(['note://two']);
    const subscribed = JSON.parse(await touch('note://one')) as string[];
    // Of 2026-07-28 it is the stream that is asked for, not each resource.
    expect(subscribed).toEqual(revision === 'legacy' ? ['note://one', 'note://two'] : []);
    await until('it is heard', () => heard.has('note://one'));
    release();
  });
});
