import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Serving, serve } from 'orrery/gateway';
import { capability, defineAgent, OrreryError, startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from '../../../gateway/admit/api-keys.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';

const layer = z.enum(['agent', 'user', 'team']);
const memoryAdd = capability({
  id: 'memory_add',
  description: 'Keeps something',
  input: z.strictObject({
    content: z.string(),
    layer: layer.optional(),
    tags: z.array(z.string()).optional(),
  }),
  output: z.strictObject({ memory_id: z.string(), success: z.boolean() }),
});
const memoryUpdate = capability({
  id: 'memory_update',
  description: 'Keeps something else instead',
  input: z.strictObject({ memory_id: z.string(), content: z.string().describe('what to keep instead') }),
  output: z.string(),
});
const memoryDelete = capability({
  id: 'memory_delete',
  description: 'Forgets something',
  input: z.strictObject({ memory_id: z.string() }),
  output: z.boolean(),
});
const knowledgeSync = capability({
  id: 'knowledge_sync',
  description: 'Takes long',
  input: z.strictObject({}),
  output: z.strictObject({ synced: z.int() }),
});

const gate = Promise.withResolvers<void>();
const keeper = defineAgent({
  id: 'keeper',
  name: 'KEEPER',
  version: '1.0.0',
  description: 'Keeps knowledge',
  tier: 3,
});
const memories = new Map<string, string>();
keeper.handle(memoryAdd, ({ content }) => {
  const id = `memory-${memories.size + 1}`;
  memories.set(id, content);
  return { memory_id: id, success: true };
});
keeper.handle(memoryUpdate, ({ memory_id, content }) => {
  memories.set(memory_id, content);
  return `${memory_id}: ${content}`;
});
keeper.handle(memoryDelete, () => {
  throw new OrreryError('NOT_PERMITTED', 'whoever keeps it may forget it');
});
keeper.handle(knowledgeSync, async (_input, ctx) => {
  ctx.progress(0.4, '4 of 10 synced');
  await gate.promise;
  return { synced: 10 };
});

const keys = {
  acme: newApiKey({ kind: 'service', tenant: 'acme' }),
  other: newApiKey({ kind: 'service', tenant: 'other' }),
};
type Who = keyof typeof keys | 'nobody';

let system: Team;
let serving: Serving;
beforeAll(async () => {
  system = await startSystem({ agents: [keeper], workers: 1, spareThread: false });
  const records = [keys.acme.record, keys.other.record];
  serving = await serve(system, {
    entry: 'keeper',
    authenticators: [apiKeys(records, { clock: systemClock })],
    a2a: { waitMs: 200 },
  });
});
afterAll(() => system.stop({ drainMs: 0 }));

// biome-ignore lint/suspicious/noExplicitAny: what stands in an answer is what the tests are about
type Answered = { readonly status: number; readonly body: any };

async function ask(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  who: Who = 'acme',
): Promise<Answered> {
  const response = await fetch(`${serving.url}${path}`, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(who === 'nobody' ? {} : { 'X-API-Key': keys[who].key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

let count = 0;
const tool = (name: string, args: unknown) => ({ type: 'data', data: { tool: name, arguments: args } });
const say = (...parts: unknown[]) => ({ message: { role: 'user', parts } });
const send = (body: object, who?: Who): Promise<Answered> =>
  ask('POST', '/tasks/send', { id: `t${++count}`, ...body }, who);

/** Asks until the task is over, or waits. */
async function polled(id: string): Promise<Answered> {
  for (;;) {
    const answered = await ask('GET', `/tasks/${id}/get`);
    if (!['submitted', 'working'].includes(answered.body.status.state)) return answered;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** By which one sends: the routes of the seed, or JSON-RPC. */
const WAYS = {
  'POST /tasks/send': (body: object, who?: Who) => send(body, who),
  'POST /keeper/tasks/send': (body: object, who?: Who) =>
    ask('POST', '/keeper/tasks/send', { id: `t${++count}`, ...body }, who),
  'tasks/send over JSON-RPC': async (body: object, who?: Who): Promise<Answered> => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tasks/send', params: { id: `t${++count}`, ...body } };
    const answered = await ask('POST', '/rpc', call, who);
    return { ...answered, body: answered.body.result ?? answered.body };
  },
};

describe.each(Object.entries(WAYS))('A skill that is invoked by %s', (_way, invoke) => {
  it('takes content, layer and tags, and answers with what it made (A-07, A-11)', async () => {
    const first = await invoke(
      say(tool('memory_add', { content: 'the sky is blue', layer: 'user', tags: ['sky'] })),
    );
    const { body } = await polled(first.body.id);
    expect(body.status.state).toBe('completed');
    expect(body.artifacts[0].parts).toEqual([
      { type: 'data', data: { memory_id: expect.stringMatching(/^memory-\d+$/), success: true } },
    ]);
  });

  it('asks for what is missing, and goes on with the answer where it was (A-08, A-09)', async () => {
    const first = await invoke(say(tool('memory_update', { memory_id: 'memory-1' })));
    const { id } = first.body;
    const asked = await polled(id);
    expect(asked.body.status.state).toBe('input-required');
    expect(JSON.stringify(asked.body.status.message.parts)).toContain('what to keep instead');
    const second = await ask('POST', `/tasks/${id}/send`, say({ type: 'text', text: 'the sky is grey' }));
    expect(second.body.id).toBe(id);
    const { body } = await polled(id);
    expect(body.status.state).toBe('completed');
    expect(body.artifacts[0].parts).toEqual([{ type: 'text', text: 'memory-1: the sky is grey' }]);
    expect(body.sessionId).toBe(asked.body.sessionId);
  });

  it('fails, with code and message, over arguments that it does not take (A-20, C-09)', async () => {
    const first = await invoke(say(tool('memory_add', { content: 'x', layer: 'galaxy' })));
    const { body } = await polled(first.body.id);
    expect(body.status.state).toBe('failed');
    const error = body.status.message.parts.find((part: { type: string }) => part.type === 'data');
    expect(error.data).toEqual({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('layer') });
  });

  it('fails with UNAUTHORIZED where it may not (A-06)', async () => {
    const first = await invoke(say(tool('memory_delete', { memory_id: 'memory-1' })));
    const { body } = await polled(first.body.id);
    expect(body.status.state).toBe('failed');
    const error = body.status.message.parts.find((part: { type: string }) => part.type === 'data');
    expect(error.data).toMatchObject({ code: 'UNAUTHORIZED', message: 'whoever keeps it may forget it' });
  });
});

describe("The routes of seed 3's skills", () => {
  it('answer that a task works, with its progress, while it takes longer, and then what came of it (A-10, A-11)', async () => {
    const { body } = await send(say(tool('knowledge_sync', {})));
    expect(body.status.state).toMatch(/submitted|working/);
    for (;;) {
      const { status } = (await ask('GET', `/tasks/${body.id}/get`)).body;
      expect(status.state).toMatch(/submitted|working/);
      if (JSON.stringify(status.message ?? '').includes('4 of 10 synced')) break;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    gate.resolve();
    expect((await polled(body.id)).body.artifacts[0].parts[0].data).toEqual({ synced: 10 });
  });

  it('let in nobody without credentials: failed, UNAUTHORIZED (A-06)', async () => {
    const refused = await send(say(tool('memory_add', { content: 'x' })), 'nobody');
    expect(refused).toMatchObject({
      status: 401,
      body: { status: { state: 'failed' }, error: { code: 'UNAUTHORIZED', message: expect.any(String) } },
    });
  });

  it('keep tenants apart, who may choose the same ids (A-04, A-05)', async () => {
    const by = async (who: Who, content: string) => {
      const { body } = await send({ id: 'shared', ...say(tool('memory_add', { content })) }, who);
      return body;
    };
    const [ours, theirs] = [await by('acme', 'ours'), await by('other', 'theirs')];
    expect([ours.id, theirs.id]).toEqual(['shared', 'shared']);
    const [own, foreign] = [
      await ask('GET', '/tasks/shared/get'),
      await ask('GET', '/tasks/shared/get', undefined, 'other'),
    ];
    expect(own.body.sessionId).toBe(ours.sessionId);
    expect(foreign.body.sessionId).toBe(theirs.sessionId);
    expect(own.body.sessionId).not.toBe(foreign.body.sessionId);
    const { body } = await send({ id: 'only-ours', ...say(tool('memory_add', { content: 'x' })) });
    expect(await ask('GET', `/tasks/${body.id}/get`, undefined, 'other')).toMatchObject({
      status: 404,
      body: { status: { state: 'failed' }, error: { code: 'NOT_FOUND' } },
    });
  });

  it('say what is wrong with a request as a task that failed, with code and message', async () => {
    const cases: [Promise<Answered>, number, string][] = [
      [ask('POST', '/tasks/nobody/send', say({ type: 'text', text: 'x' })), 404, 'NOT_FOUND'],
      [ask('GET', '/tasks/nobody/get'), 404, 'NOT_FOUND'],
      [send({ message: { role: 'user', parts: [] } }), 400, 'INVALID_REQUEST'],
      [send(say(tool('memory_forge', {}))), 400, 'INVALID_REQUEST'],
      [ask('POST', '/nobody/tasks/send', say({ type: 'text', text: 'x' })), 404, 'NOT_FOUND'],
    ];
    for (const [answered, status, code] of cases)
      expect(await answered).toMatchObject({
        status,
        body: { status: { state: 'failed' }, error: { code } },
      });
  });

  it('are there beside those of 1.0, on the same paths of tasks', async () => {
    const { body } = await send(say(tool('memory_add', { content: 'x' })));
    await polled(body.id);
    const response = await fetch(`${serving.url}/tasks/${body.id}`, {
      headers: { 'A2A-Version': '1.0', 'X-API-Key': keys.acme.key },
    });
    expect(await response.json()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('stand on the card of the system and of the agent, with the skills (A-01, A-02)', async () => {
    const card = (await (await fetch(`${serving.url}/keeper/.well-known/agent.json`)).json()) as {
      skills: { id: string }[];
      authentication: unknown;
    };
    expect(card.skills.map(({ id }) => id)).toEqual([
      'memory_add',
      'memory_update',
      'memory_delete',
      'knowledge_sync',
    ]);
    expect(card).toMatchObject({ name: 'KEEPER', version: '1.0.0', description: 'Keeps knowledge' });
    expect(card.authentication).toEqual({ schemes: ['apiKey'] });
  });
});
