import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { credentials } from '@grpc/grpc-js';
import canonicalize from 'canonicalize';
import { refused, startSystem, type SystemEvent, type Team, capability, defineAgent } from 'orrery';
import {
  ATTESTATION_URI,
  type Attestation,
  type FirewallHooks,
  responseHash,
  type Serving,
} from 'orrery/gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asCaller } from '../fixtures/a2a-grpc.ts';
import { modernFetch } from '../fixtures/mcp/raw-mcp.ts';
import { begunSession } from '../fixtures/mcp/raw-session.ts';
import { PushReceiver } from '../fixtures/push-receiver.ts';
import { sendRequest } from '../fixtures/sdk-client.ts';
import { until } from '../fixtures/until.ts';
import { clientInputs, inputRequired, question, taskOf } from 'orrery/tasks';
import { z } from 'zod';

/** What must not go out. */
const SECRET = 's3cret-of-the-house';

const none = z.object({});
const anything = z.unknown();
const of = (id: string) => ({ id, description: `Does ${id}`, input: none, output: anything });

/** Whose every word holds the secret, in all the ways that an agent has to say something. `ran`: what it was asked for. */
function talker() {
  const ran: string[] = [];
  const agent = defineAgent({
    id: 'talker',
    name: 'TALKER',
    version: '1.0.0',
    description: `Knows ${SECRET}`,
    tier: 2,
  })
    .handle(capability(of('tell')), () => {
      ran.push('tell');
      return { said: 'yes', token: SECRET, all: [{ token: SECRET, n: 1 }], line: `It is ${SECRET}.` };
    })
    .handle(capability(of('plain')), () => `It is ${SECRET}.`)
    .handle(capability(of('file')), () => ({
      bytes: Buffer.from(SECRET).toString('base64'),
      mediaType: 'text/plain',
    }))
    .handleStream(capability(of('chunks')), async function* () {
      yield `one ${SECRET}`;
      yield 'two';
    })
    .handle(capability(of('work')), (_, ctx) => {
      const task = taskOf(ctx);
      task?.say(`Now ${SECRET}`);
      ctx.progress(0.5, `half of ${SECRET}`);
      task?.artifact({
        artifactId: 'notes',
        name: SECRET,
        description: SECRET,
        parts: [{ data: { token: SECRET } }],
      });
      if (task?.answer === undefined) throw inputRequired(`Is it ${SECRET}?`);
      return { token: SECRET, ended: true };
    })
    .handle(capability(of('refuse')), () => {
      throw refused(`It is ${SECRET}`);
    })
    .handle(capability(of('report')), (_, ctx) => {
      ctx.report({ log: { level: 'info', data: { token: SECRET, line: SECRET } } });
      return 'reported';
    })
    .handle(capability(of('ask')), (_, ctx) => {
      const { who } = clientInputs(ctx, {
        who: question(`Who knows ${SECRET}?`, z.object({ name: z.string() })),
      });
      return who.action;
    })
    .handle(capability({ ...of('answer'), answers: 'message' }), () => {
      ran.push('answer');
      return { token: SECRET, line: SECRET };
    })
    .handle(capability(of('hidden')), () => {
      ran.push('hidden');
      return SECRET;
    })
    .resource({ uri: 'talker://book', name: 'book' }, () => `All of ${SECRET}`)
    .prompt({ name: 'greet', arguments: [{ name: 'who' }] }, `Greet {{who}} with ${SECRET}`, {
      complete: { who: [SECRET, 'ann'] },
    });
  return { agent, ran };
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const DID = 'did:example:talker';

/** Takes keys named token away, and the secret out of texts, at any depth. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64').toString();
    return bytes === SECRET ? '' : value.replaceAll(SECRET, '[kept]');
  }
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => name !== 'token');
  return Object.fromEntries(kept.map(([name, one]) => [name, cleaned(one)]));
}

/** As somebody's own class has it; what it does is decided test by test. */
class House implements FirewallHooks {
  readonly did = DID;
  readonly timeoutMs = 20_000;
  readonly asked: string[] = [];
  denies: (toolName: string) => unknown = (toolName) => !toolName.endsWith('.hidden');
  cleans: (value: unknown) => unknown = cleaned;
  proves: (hash: Uint8Array, did: Uint8Array) => Uint8Array = (hash, did) =>
    sign(null, Buffer.concat([hash, did]), privateKey);
  filterQuery(peer: string, toolName: string) {
    this.asked.push(`${peer} ${toolName}`);
    return this.denies(toolName) as boolean;
  }
  async sanitizeResponse(result: unknown) {
    await new Promise((resolve) => setImmediate(resolve));
    return this.cleans(result) as never;
  }
  zkAttest(hash: Uint8Array, did: Uint8Array) {
    return this.proves(hash, did);
  }
}

const house = new House();
const { agent, ran } = talker();
let system: Team;
let serving: Serving;
let receiver: PushReceiver;
const events: SystemEvent[] = [];
/** All that anybody outside has got. */
let heard: string[] = [];

beforeAll(async () => {
  receiver = await PushReceiver.start();
  system = await startSystem({ agents: [agent] });
  await system.inspect((event) => events.push(event));
  serving = await system.serve({
    firewall: house,
    cardProvider: (id) => {
      const card = system.registry.getById(id);
      return card && { ...card, description: 'Knows things' };
    },
    grpc: {},
    mcp: { tasks: 'asked' },
    a2a: { push: { targets: { allowHttp: true, allowPrivate: (address) => address === '127.0.0.1' } } },
  });
});
afterAll(async () => {
  await system.stop({ drainMs: 0 });
  await receiver.kill();
});
beforeEach(() => {
  heard = [];
  ran.length = 0;
  house.asked.length = 0;
  Object.assign(house, new House());
});

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  heard.push(text);
  return text;
}
const message = (tool: string, more: object = {}) => ({
  messageId: `${tool}-${heard.length}-${Math.trunc(performance.now() * 1_000)}`,
  role: 'ROLE_USER',
  parts: [{ data: { tool, arguments: {} } }],
  ...more,
});
const rpc = (method: string, params: object) =>
  post('/talker/rpc', { jsonrpc: '2.0', id: 1, method, params }, { 'a2a-version': '1.0' });
// biome-ignore lint/suspicious/noExplicitAny: what a test reads of it is what it checks.
const resultOf = (text: string): any => JSON.parse(text).result;
// biome-ignore lint/suspicious/noExplicitAny: as above.
const taskAt = async (tool: string, more?: object): Promise<any> =>
  resultOf(await rpc('SendMessage', { message: message(tool, more) })).task;
const nothingOut = () => expect(heard.join('\n')).not.toContain(SECRET);
const BASE64 = Buffer.from(SECRET).toString('base64');

describe('A firewall before a system (C-33)', () => {
  it('cleans what agents say, in every way that A2A tells it', async () => {
    const told = await taskAt('tell');
    expect(told.status.state).toBe('TASK_STATE_COMPLETED');
    expect(told.artifacts[0].parts).toEqual([
      { data: { said: 'yes', all: [{ n: 1 }], line: 'It is [kept].' } },
    ]);
    expect((await taskAt('plain')).artifacts[0].parts).toEqual([{ text: 'It is [kept].' }]);
    expect((await taskAt('file')).artifacts[0].parts).toEqual([{ mediaType: 'text/plain', raw: '' }]);
    const stream = await rpc('SendStreamingMessage', { message: message('chunks') });
    expect(stream).toContain('one [kept]');
    expect(stream).toContain('two');
    const work = await taskAt('work');
    expect(work.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Is it [kept]?' }] },
    });
    const done = await taskAt('work', { taskId: work.id, parts: [{ text: 'yes' }] });
    expect(done.artifacts.at(-1).parts).toEqual([{ data: { ended: true } }]);
    expect(done.artifacts[0]).toMatchObject({ name: '[kept]', description: '[kept]', parts: [{ data: {} }] });
    expect((await taskAt('refuse')).status.message.parts[0]).toEqual({ text: 'It is [kept]' });
    // Later reads, in any dialect.
    await rpc('GetTask', { id: work.id });
    await rpc('ListTasks', { includeArtifacts: true, historyLength: 100 });
    await rpc('SubscribeToTask', { id: work.id });
    await post('/talker/rpc', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: work.id } });
    await post('/talker/rpc', {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: {
          messageId: 'old',
          kind: 'message',
          role: 'user',
          parts: [{ kind: 'data', data: { tool: 'tell', arguments: {} } }],
        },
      },
    });
    await post('/talker/message:send', { message: message('tell') }, { 'a2a-version': '1.0' });
    const answer = resultOf(await rpc('SendMessage', { message: message('answer') }));
    expect(answer.message.parts).toEqual([{ data: { line: '[kept]' } }]);
    nothingOut();
    expect(heard.join('\n')).not.toContain(BASE64);
  });

  it('cleans what is pushed, and what goes over gRPC', async () => {
    const push = { url: receiver.url };
    await rpc('SendMessage', {
      message: message('work'),
      configuration: { taskPushNotificationConfig: push },
    });
    await until('it is pushed that input is wanted', async () =>
      receiver.posts.some(({ body }) => body.toString().includes('INPUT_REQUIRED')),
    );
    heard.push(...receiver.posts.map(({ body }) => body.toString()));
    const client = await new GrpcTransportFactory({
      grpcChannelCredentials: credentials.createInsecure(),
    }).create(serving.grpcAddress as string, {} as never);
    const request = sendRequest('');
    Object.assign(request.message as object, {
      parts: [
        {
          content: { $case: 'data', value: { tool: 'tell', arguments: {} } },
          metadata: undefined,
          filename: '',
          mediaType: '',
        },
      ],
    });
    const answer = await client.sendMessage({ ...request, tenant: 'talker' }, asCaller());
    heard.push(JSON.stringify(answer));
    expect(JSON.stringify(answer)).toContain('It is [kept].');
    nothingOut();
  });

  it('cleans what MCP gives out: results, reports, errors, resources, prompts, completions, questions and tasks', async () => {
    const modern = async (method: string, params: object, capabilities: object = { elicitation: {} }) => {
      const answer = await modernFetch(serving.url, method, params as never, { capabilities });
      const text = await answer.text();
      heard.push(text);
      return text;
    };
    const call = (name: string) => modern('tools/call', { name: `talker.${name}`, arguments: {} });
    expect(await call('tell')).toContain('It is [kept].');
    expect(await call('plain')).toContain('It is [kept].');
    expect(await call('refuse')).toContain('It is [kept]');
    expect(await call('ask')).toContain('Who knows [kept]?');
    expect(await modern('resources/read', { uri: 'talker://book' })).toContain('All of [kept]');
    expect(await modern('prompts/get', { name: 'talker.greet', arguments: { who: 'ann' } })).toContain(
      'with [kept]',
    );
    await modern('completion/complete', {
      ref: { type: 'ref/prompt', name: 'talker.greet' },
      argument: { name: 'who', value: '' },
    });
    const session = await begunSession(serving.url);
    await session.rpc('logging/setLevel', { level: 'debug' });
    const spoken = await session.post({
      jsonrpc: '2.0',
      id: 77,
      method: 'tools/call',
      params: { name: 'talker.report', arguments: {}, _meta: { progressToken: 1 } },
    });
    const said = await spoken.text();
    heard.push(said);
    expect(said).toContain('[kept]');
    const begun = await session.rpc('tools/call', { name: 'talker.tell', arguments: {}, task: {} });
    const { taskId } = (begun.result as { task: { taskId: string } }).task;
    const { result } = await session.rpc('tasks/result', { taskId });
    heard.push(JSON.stringify(result));
    expect(result).toMatchObject({
      structuredContent: { result: { said: 'yes', all: [{ n: 1 }] } },
      _meta: { [ATTESTATION_URI]: { did: DID, artifactIds: [expect.stringContaining('result-')] } },
    });
    nothingOut();
  });

  it('asks before anything runs; what is not let in is a rejected task, or an error', async () => {
    const denied = await taskAt('hidden');
    expect(denied.status).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      message: {
        parts: [
          { text: 'The firewall does not let anonymous use talker.hidden' },
          { data: { code: 'UNAUTHORIZED', reason: 'NOT_PERMITTED' } },
        ],
      },
    });
    const mcp = await modernFetch(serving.url, 'tools/call', { name: 'talker.hidden', arguments: {} });
    expect(await mcp.text()).toContain('NOT_PERMITTED');
    expect(house.asked).toEqual(['anonymous talker.hidden', 'anonymous talker.hidden']);
    expect(ran).toEqual([]);
    const isDenial = ({ toolName, errorCode }: SystemEvent) =>
      toolName === 'talker.hidden' && errorCode === 'NOT_PERMITTED';
    await until('both are events', async () => events.filter(isDenial).length >= 2);
    expect(events.filter(isDenial)).toMatchObject(
      [1, 2].map(() => ({ type: 'error', sender: 'anonymous', security: true })),
    );
    house.denies = () => false;
    for (const [method, params] of [
      ['resources/read', { uri: 'talker://book' }],
      ['prompts/get', { name: 'talker.greet', arguments: { who: 'ann' } }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'talker.greet' }, argument: { name: 'who', value: '' } },
      ],
    ] as const)
      expect(await (await modernFetch(serving.url, method, params)).text()).toContain(
        'does not let anonymous use',
      );
    expect(await rpc('SendMessage', { message: message('answer') })).toContain('does not let anonymous use');
    expect(ran).toEqual([]);
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error(`postgres://${SECRET}`);
      },
    ],
    [
      'rejects',
      async (): Promise<never> => {
        throw new Error(`postgres://${SECRET}`);
      },
    ],
    ['says false', async (): Promise<boolean> => false],
    ['says nonsense', (): string => 'yes'],
  ] as const)('lets nobody in when the filter %s, and tells them nothing of why', async (_, denies) => {
    house.denies = denies as never;
    expect((await taskAt('tell')).status.state).toBe('TASK_STATE_REJECTED');
    expect(ran).toEqual([]);
    nothingOut();
  });

  it('tells whoever it refuses what it wants them to be told', async () => {
    house.denies = () => {
      throw refused('Ask again tomorrow');
    };
    expect((await taskAt('tell')).status.message.parts[0]).toEqual({ text: 'Ask again tomorrow' });
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error(`it holds ${SECRET}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error(`it holds ${SECRET}`))],
    ['gives no JSON', () => () => undefined],
  ] as const)('lets nothing out when the sanitiser %s', async (_, cleans) => {
    house.cleans = cleans as never;
    const { status, artifacts = [] } = await taskAt('tell');
    expect(status.state).toBe('TASK_STATE_FAILED');
    expect(artifacts).toEqual([]);
    expect(await rpc('SendMessage', { message: message('answer') })).toContain('may not go out');
    const mcp = await (
      await modernFetch(serving.url, 'tools/call', { name: 'talker.tell', arguments: {} })
    ).text();
    heard.push(mcp);
    expect(mcp).toContain('may not go out');
    nothingOut();
  });

  it('gives out nothing of what its sanitiser takes whole', async () => {
    house.cleans = () => undefined;
    const { status, artifacts = [] } = await taskAt('tell');
    expect(status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(artifacts)).not.toContain('said');
    nothingOut();
  });

  it('shows the cards that its provider gives', async () => {
    for (const path of [
      '/talker/.well-known/agent-card.json',
      '/.well-known/agent-card.json',
      '/talker/.well-known/agent.json',
    ])
      heard.push(await (await fetch(`${serving.url}${path}`)).text());
    expect(heard[0]).toContain('Knows things');
    nothingOut();
  });
});

describe('An attestation of what goes out (C-33, L-23)', () => {
  const holds = (attestation: Attestation | undefined, hash: Uint8Array): boolean => {
    const { did, sha256, proof } = attestation as Attestation;
    expect([did, sha256]).toEqual([DID, Buffer.from(hash).toString('hex')]);
    const signed = Buffer.concat([hash, createHash('sha256').update(did).digest()]);
    return verify(null, signed, publicKey, Buffer.from(proof, 'base64'));
  };
  const hashOf = (value: unknown) =>
    createHash('sha256')
      .update(canonicalize(value) as string)
      .digest();

  it.each(['tell', 'chunks', 'plain'])(
    'stands with the end of a task (%s), over what it has made',
    async (tool) => {
      const { status, artifacts } = await taskAt(tool);
      const attestation = status.message.metadata[ATTESTATION_URI] as Attestation;
      const made = artifacts.map(({ artifactId, parts }: { artifactId: string; parts: unknown }) => ({
        artifactId,
        parts,
      }));
      expect(attestation.artifactIds).toEqual(
        made.map(({ artifactId }: { artifactId: string }) => artifactId),
      );
      expect(holds(attestation, hashOf(made))).toBe(true);
      expect(await responseHash(made)).toEqual(hashOf(made));
      expect(holds({ ...attestation, sha256: hashOf([]).toString('hex') }, hashOf([]))).toBe(false);
    },
  );

  it('stands with an answer that is a message, over its parts', async () => {
    const { message: answer } = resultOf(await rpc('SendMessage', { message: message('answer') }));
    expect(holds(answer.metadata[ATTESTATION_URI], hashOf(answer.parts))).toBe(true);
  });

  it('stands with a result of MCP, over its structured content', async () => {
    const answer = await modernFetch(serving.url, 'tools/call', { name: 'talker.tell', arguments: {} });
    const { _meta, structuredContent } = resultOf(await answer.text());
    expect(holds(_meta[ATTESTATION_URI], hashOf(structuredContent))).toBe(true);
  });

  it.each([
    [
      'throws',
      (): never => {
        throw new Error('no key');
      },
    ],
    ['gives nothing', () => new Uint8Array()],
    ['gives no bytes', () => 'proof' as never],
  ])('that cannot be made (%s) keeps the result in', async (_, proves) => {
    house.proves = proves;
    const { status } = await taskAt('tell');
    expect(status.state).toBe('TASK_STATE_FAILED');
    const answer = await modernFetch(serving.url, 'tools/call', { name: 'talker.tell', arguments: {} });
    const text = await answer.text();
    expect(text).not.toContain('said');
  });
});

describe('The options of a firewall', () => {
  it('are those of the first who serves a system; a second with others is refused', async () => {
    await expect(system.serve({ firewall: new House() })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await using second = await system.serve({});
    const answer = await modernFetch(second.url, 'tools/call', { name: 'talker.tell', arguments: {} });
    expect(await answer.text()).not.toContain(SECRET);
  });
});
