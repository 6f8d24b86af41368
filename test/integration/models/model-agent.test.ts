import { capability, startSystem } from 'orrery';
import { answer, answerStream, estimateTokens } from 'orrery/models';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { called } from '../../fixtures/agents/counting-words.ts';
import { type ChatRequest, startModelServer } from '../../fixtures/model-server.ts';
import { endTeams, modelTeam } from '../../fixtures/model-team.ts';
import { agent, rejection } from '../../fixtures/until.ts';

const luna = (team: { readonly luna: string }) => ({ agent: team.luna, capability: answer });

afterAll(endTeams);

const count = (text: string, id?: string) => ({
  name: 'words__words_count',
  args: JSON.stringify({ text }),
  ...(id === undefined ? {} : { id }),
});
/** What the model reads of its tools' answers, in order. */
const toolsSaid = ({ messages }: ChatRequest): (string | null)[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
const errorsSaid = (request: ChatRequest): unknown[] =>
  toolsSaid(request).map((text) => JSON.parse(text ?? 'null') as unknown);

describe('An agent that thinks with a model', () => {
  it.each([true, false])('answers text with text (streamed by the endpoint: %s)', async (streams) => {
    await using team = await modelTeam([{ text: 'Paris.' }], { streams });
    const said = await team.system.ask(luna(team), { prompt: 'The capital of France?' });
    expect(said).toBe('Paris.');
    expect(team.server.requests).toMatchObject([
      {
        url: '/v1/chat/completions',
        body: {
          model: 'stub',
          max_tokens: 2_048,
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'The capital of France?' },
          ],
        },
      },
    ]);
    expect(team.server.requests[0]?.body.stream ?? false).toBe(streams);
    expect(team.server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('sends the key and the headers that it is given, to the endpoint as it is given', async () => {
    await using server = await startModelServer([{ text: 'yes' }]);
    const model = { baseUrl: server.url, model: 'm', apiKey: 'k-123', headers: { 'x-team': 'red' } };
    await using team = await modelTeam([], { model });
    await team.system.ask(luna(team), { prompt: 'x' });
    expect(server.requests[0]).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: 'Bearer k-123', 'x-team': 'red' },
    });
  });

  it('runs in a worker thread, and calls the tools of another one', async () => {
    await using server = await startModelServer([{ calls: [count('one two')] }, { text: 'two' }]);
    process.env['TEST_MODEL_URL'] = server.url;
    await using system = await startSystem({ agents: [agent('thinker'), agent('words')], workers: 2 });
    expect(await system.ask({ agent: 'thinker', capability: answer }, { prompt: 'how many?' })).toBe('two');
    expect(toolsSaid(server.requests[1]?.body as ChatRequest)).toEqual(['2']);
    const calls = (await system.recentEvents()).filter(({ type }) => type === 'model-call');
    expect(calls).toMatchObject([
      { agentId: 'thinker', model: 'stub', attempt: 1, success: true, capability: 'answer' },
      { agentId: 'thinker', success: true },
    ]);
    expect(calls[0]?.place).toMatch(/^worker-/);
    expect(await system.metrics()).toContain('orrery_model_calls_total 2');
  });

  it('runs in a process of its own that may use the network', async () => {
    await using server = await startModelServer([{ text: 'hello' }]);
    await using team = await modelTeam([]);
    const permissions = { net: true };
    const env = { TEST_MODEL_URL: server.url };
    await team.system.start([agent('lone-thinker', { isolation: 'process' as const, permissions, env })]);
    const asked = team.system.ask({ agent: 'lone-thinker', capability: answer }, { prompt: 'x' });
    expect(await asked).toBe('hello');
  });

  it('offers the tools that it is told to, under names that endpoints take (C-28)', async () => {
    await using team = await modelTeam([{ text: 'ok' }], { tools: ['words.words.count'] });
    await team.system.ask(luna(team), { prompt: 'x' });
    const offered = team.server.requests[0]?.body.tools ?? [];
    expect(offered.map(({ function: { name } }) => name)).toEqual(['words__words_count']);
    expect(offered[0]?.function).toMatchObject({
      description: 'Counts words',
      parameters: { type: 'object', required: ['text'] },
    });
  });

  it.each(['nobody.there', 'words.words.cuont', 'wrods.*'])(
    'calls no model when its tools name %s',
    async (name) => {
      await using team = await modelTeam([{ text: 'ok' }], { tools: ['words.words.count', name] });
      await expect(team.system.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
        code: 'TOOL_NOT_FOUND',
        message: expect.stringContaining(name),
      });
      expect(team.server.requests).toEqual([]);
    },
  );

  it('never offers its own capabilities, and all others where it is told so', async () => {
    await using team = await modelTeam([{ text: 'ok' }], {
      tools: ({ name }) => name !== 'words.words.fail',
    });
    await team.system.ask(luna(team), { prompt: 'x' });
    const names = team.server.requests[0]?.body.tools?.map(({ function: { name } }) => name);
    expect(names).toEqual(expect.arrayContaining(['words__words_count', 'words__words_repeat']));
    expect(names?.filter((name) => name.startsWith(team.luna) || name.includes('fail'))).toEqual([]);
  });

  it('has several tools called at a time, and reads their answers in the order that it asked in', async () => {
    const calls = ['a', 'b c', 'd e f'].map((text, at) => count(text, `id-${at}`));
    await using team = await modelTeam([{ calls }, { text: 'done' }], { tools: ['words.*'] });
    await team.system.ask(luna(team), { prompt: 'x' });
    const second = team.server.requests[1]?.body as ChatRequest;
    expect(toolsSaid(second)).toEqual(['1', '2', '3']);
    expect(second.messages.filter(({ role }) => role === 'tool').map((one) => one.tool_call_id)).toEqual([
      'id-0',
      'id-1',
      'id-2',
    ]);
  });

  it.each([true, false])('keeps calls with the same id apart (streamed: %s)', async (streams) => {
    const calls = [count('a', 'same'), count('a b', 'same')];
    await using team = await modelTeam([{ calls }, { text: 'done' }], { tools: ['words.*'], streams });
    await team.system.ask(luna(team), { prompt: 'x' });
    expect(toolsSaid(team.server.requests[1]?.body as ChatRequest)).toEqual(['1', '2']);
  });

  it('reads why a tool failed as data, and nobody repeats the call (N-5.4, N-V03, C-17)', async () => {
    called.clear();
    const calls = [
      { id: 'a', name: 'words__words_fail', args: '{"text":"x"}' },
      { id: 'b', name: 'words__nothing', args: '{}' },
      { id: 'c', name: 'words__words_count', args: '{"text": 5}' },
      { id: 'd', name: 'words__words_count', args: '{"text": "half' },
    ];
    await using team = await modelTeam([{ calls }, { text: 'I gave up' }], { tools: ['words.*'] });
    expect(await team.system.ask(luna(team), { prompt: 'x' })).toBe('I gave up');
    expect(errorsSaid(team.server.requests[1]?.body as ChatRequest)).toEqual([
      { code: 'REFUSED', message: 'no word in "x" will do', agentId: 'words', retryAfterMs: 70 },
      expect.objectContaining({ code: 'TOOL_NOT_FOUND', message: 'There is no tool "words__nothing"' }),
      expect.objectContaining({ code: 'INVALID_PAYLOAD', agentId: 'words' }),
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        message: expect.stringContaining('no JSON object'),
      }),
    ]);
    expect(called.get('fail')).toBe(1);
    expect(called.get('count') ?? 0).toBe(0);
  });

  it('makes so many calls of one reply, and says of the others that they are too many', async () => {
    const calls = ['a', 'b', 'c'].map((text, at) => count(text, `id-${at}`));
    const limits = { maxToolCalls: 2 };
    await using team = await modelTeam([{ calls }, { text: 'done' }], { tools: ['words.*'], limits });
    await team.system.ask(luna(team), { prompt: 'x' });
    const said = toolsSaid(team.server.requests[1]?.body as ChatRequest);
    expect(said.slice(0, 2)).toEqual(['1', '1']);
    expect(said[2]).toContain('At most 2 tools');
  });

  it("reads so much of a tool's answer, and that it was cut", async () => {
    const calls = [{ name: 'words__words_repeat', args: '{"text":"abcdefghij","times":1000}' }];
    const limits = { maxToolResultChars: 300 };
    await using team = await modelTeam([{ calls }, { text: 'done' }], { tools: ['words.*'], limits });
    await team.system.ask(luna(team), { prompt: 'x' });
    const [said] = toolsSaid(team.server.requests[1]?.body as ChatRequest);
    expect(said).toMatch(/^(abcdefghij){30}\n\[cut: these are the first 300 of 10000 characters\]$/);
  });

  it('says no more than so much at a time: the work and the newest stay', async () => {
    const limits = { maxSteps: 6, maxContextTokens: 2_000, maxOutputTokens: 300 };
    await using team = await modelTeam(
      (_, at) =>
        at < 5
          ? { calls: [{ id: `c${at}`, name: 'words__words_repeat', args: `{"text":"${at} ","times":4000}` }] }
          : { text: 'done' },
      { tools: ['words.words.repeat'], limits },
    );
    await team.system.ask(luna(team), { prompt: 'the work' });
    for (const { body } of team.server.requests)
      expect(estimateTokens(JSON.stringify(body.messages)) + 300).toBeLessThan(2_100);
    const last = team.server.requests.at(-1)?.body as ChatRequest;
    expect(last.messages[1]?.content).toMatch(
      /^the work\n\n\[\d+ turns of this conversation are left out here\]$/,
    );
    expect(toolsSaid(last).at(-1)).toMatch(/^4 4 .*\[cut: /s);
  });

  it('ends an endless loop of tools by a last call without any, which is told why', async () => {
    await using team = await modelTeam(
      ({ tools }, at) => (tools === undefined ? { text: 'two, I think' } : { calls: [count(`w ${at}`)] }),
      { tools: ['words.*'], limits: { maxSteps: 3 } },
    );
    expect(await team.system.ask(luna(team), { prompt: 'x' })).toBe('two, I think');
    expect(team.server.requests).toHaveLength(4);
    const last = team.server.requests[3]?.body as ChatRequest;
    expect(last.max_tokens).toBe(1_024);
    expect(last.messages.at(-1)?.content).toContain('this was step 3 of 3');
  });

  it('is REFUSED when not even the last call brings anything, with what there was', async () => {
    await using team = await modelTeam([{ text: 'hm', calls: [count('w')] }], {
      tools: ['words.*'],
      limits: { maxSteps: 2 },
    });
    team.server.script(({ tools }) =>
      tools === undefined ? { text: ' ' } : { text: 'hm', calls: [count('w')] },
    );
    await expect(team.system.ask(luna(team), { prompt: 'x' })).rejects.toMatchObject({
      code: 'REFUSED',
      message: `${team.luna} has no answer after 2 steps`,
      details: { partial: { text: 'hm' } },
    });
  });

  it('goes on with what an attempt before has kept', async () => {
    await using team = await modelTeam([{ text: 'ok' }]);
    await team.system.ask(luna(team), { prompt: 'do it' }, { resumeFrom: { text: 'half of it' } });
    expect(team.server.requests[0]?.body.messages[1]?.content).toMatch(
      /^do it\n\n.*\n\{"text":"half of it"\}$/s,
    );
  });

  it('tells its asker how far it is, and what it has said', async () => {
    await using team = await modelTeam([{ text: 'first', calls: [count('a')] }, { text: 'second' }], {
      tools: ['words.*'],
    });
    const heard: unknown[] = [];
    await team.system.ask(luna(team), { prompt: 'x' }, { onProgress: (progress) => heard.push(progress) });
    expect(heard).toContainEqual({ fraction: 0, note: 'step 1: calls words__words_count' });
    expect(heard).toContainEqual({ fraction: 0.125, note: 'step 2 of at most 8' });
    expect(heard).toContainEqual(expect.objectContaining({ partial: { text: 'first', steps: 1 } }));
  });
});

describe("A stream of a model's text", () => {
  const stream = (team: { readonly luna: string }) => ({ agent: team.luna, capability: answerStream });

  it('comes as the model says it, with an empty line where tools were called', async () => {
    const gate = Promise.withResolvers<void>();
    await using team = await modelTeam(
      [
        { text: 'let me see', calls: [count('a b')] },
        { text: 'two', gate: gate.promise },
      ],
      { tools: ['words.*'] },
    );
    const chunks: string[] = [];
    for await (const chunk of team.system.stream(stream(team), { prompt: 'x' })) {
      chunks.push(chunk);
      // It is read before the answer is over.
      if (chunks.join('').endsWith('two')) gate.resolve();
    }
    expect(chunks.join('')).toBe('let me see\n\ntwo');
    expect(chunks.length).toBeGreaterThan(1);
  });

  it('ends the request when its reader leaves', async () => {
    await using team = await modelTeam([{ text: 'once upon a time', hangs: 'after' }]);
    for await (const chunk of team.system.stream(stream(team), { prompt: 'x' })) {
      expect(chunk).toBe('once upon a time');
      break;
    }
    await (await team.server.came(0)).closed;
    team.server.script([{ text: 'still there' }]);
    expect(await team.system.ask(luna(team), { prompt: 'x' })).toBe('still there');
  });

  it('ends with the error where the answer was cut, after what came before', async () => {
    await using team = await modelTeam([{ text: 'once upon', cuts: true }], {
      limits: { mayBillTwice: true },
    });
    let text = '';
    const reading = (async () => {
      for await (const chunk of team.system.stream(stream(team), { prompt: 'x' })) text += chunk;
    })();
    expect((await rejection(reading)).code).toMatch(/^REMOTE_/);
    expect(text).toBe('once upon');
    // What was told cannot be told again.
    expect(team.server.requests).toHaveLength(1);
  });
});

describe('Structured answers', () => {
  const Verdict = z.object({ verdict: z.enum(['good', 'bad']), score: z.int().min(0).max(10) });
  const judge = capability({
    id: 'text.judge',
    description: 'Judges a text',
    input: z.object({ text: z.string() }),
    output: Verdict,
  });
  const target = (team: { readonly luna: string }) => ({ agent: team.luna, capability: judge });
  const capabilities = [judge];
  const good = '{"verdict":"good","score":9}';

  it.each([
    ['as it is', good],
    ['in a fence', `Here you are:\n\`\`\`json\n${good}\n\`\`\`\nAnything else?`],
    ['among words', `I say ${good}, of course.`],
  ])('are read %s', async (_, text) => {
    await using team = await modelTeam([{ text }], { capabilities });
    expect(await team.system.ask(target(team), { text: 'x' })).toEqual({ verdict: 'good', score: 9 });
    const body = team.server.requests[0]?.body;
    expect(body?.messages[0]?.content).toContain('"maximum":10');
    expect(body?.messages[1]?.content).toBe('{"text":"x"}');
    expect(body?.response_format).toBeUndefined();
  });

  it('are held to their schema by an endpoint that takes one', async () => {
    await using server = await startModelServer([{ text: good }]);
    const model = { baseUrl: server.url, model: 'm', schemas: true };
    await using team = await modelTeam([], { capabilities, model });
    expect(await team.system.ask(target(team), { text: 'x' })).toEqual({ verdict: 'good', score: 9 });
    expect(server.requests[0]?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { required: ['verdict', 'score'] } },
    });
  });

  it.each([true, false])(
    'go back also where the endpoint said that it would hold to the schema (streamed: %s)',
    async (streams) => {
      await using server = await startModelServer([
        { text: 'nine' },
        { text: '{"verdict":"good"}' },
        { text: good },
      ]);
      const model = { baseUrl: server.url, model: 'm', schemas: true };
      await using team = await modelTeam([], { capabilities, model, streams });
      expect(await team.system.ask(target(team), { text: 'x' })).toEqual({ verdict: 'good', score: 9 });
      expect(server.requests).toHaveLength(3);
    },
  );

  it('go back to the model with the fault named, and are taken when they fit', async () => {
    await using team = await modelTeam(
      [{ text: '{"verdict":"good","score":99}' }, { text: 'nine' }, { text: good }],
      { capabilities },
    );
    expect(await team.system.ask(target(team), { text: 'x' })).toEqual({ verdict: 'good', score: 9 });
    const last = team.server.requests[2]?.body.messages ?? [];
    expect(last.at(-3)?.content).toMatch(/^That cannot be used: .*score/);
    expect(last.at(-1)?.content).toMatch(/^That cannot be used: the answer is no JSON/);
  });

  it('are REFUSED naming the fault after so many that do not fit', async () => {
    await using team = await modelTeam([{ text: '{"verdict":"fine","score":1}' }], {
      capabilities,
      limits: { answerAttempts: 2 },
    });
    await expect(team.system.ask(target(team), { text: 'x' })).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringMatching(/stub answered "text\.judge" 2 times.*verdict/),
      details: { capability: 'text.judge', attempts: 2 },
    });
    expect(team.server.requests).toHaveLength(2);
  });

  it('say that they were cut off where that is why', async () => {
    await using team = await modelTeam([{ text: '{"verdict":"go', finish: 'length' }, { text: good }], {
      capabilities,
    });
    await team.system.ask(target(team), { text: 'x' });
    expect(team.server.requests[1]?.body.messages.at(-1)?.content).toContain('cut off');
  });

  it('are REFUSED at once where the provider withholds them', async () => {
    await using team = await modelTeam([{ text: '', finish: 'content_filter' }], { capabilities });
    expect((await rejection(team.system.ask(target(team), { text: 'x' }))).message).toContain('withheld');
    expect(team.server.requests).toHaveLength(1);
  });
});
