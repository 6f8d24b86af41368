import type { Message, StreamResponse } from '@a2a-js/sdk';
import type { Transport } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { credentials } from '@grpc/grpc-js';
import { capability, defineAgent, refused, startSystem, type Team } from 'orrery';
import type { Serving } from 'orrery/gateway';
import { RemoteAgentClient, remoteAgent } from 'orrery/remote';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { asCaller } from '../../fixtures/a2a-grpc.ts';
import { BINDINGS, sdkClient, sendRequest } from '../../fixtures/sdk-client.ts';
import { until } from '../../fixtures/until.ts';

const greet = capability({
  id: 'greet',
  description: 'Greets',
  input: z.string(),
  output: z.string(),
  answers: 'message',
});

let asked: string[] = [];
let cancelled = 0;
const mars = defineAgent({
  id: 'mars',
  name: 'MARS',
  version: '1.0.0',
  description: 'Greets',
  tier: 2,
}).handle(greet, async (name, ctx) => {
  asked.push(name);
  if (name === 'secret') throw new Error('postgres://user:hush@db');
  if (name === 'nobody') throw refused('Nobody is greeted');
  if (name === 'slow')
    await new Promise<void>((resolve) =>
      ctx.signal.addEventListener('abort', () => {
        cancelled += 1;
        resolve();
      }),
    );
  return `Hello, ${name}`;
});

let system: Team;
let serving: Serving;
beforeAll(async () => {
  system = await startSystem({ agents: [mars] });
  serving = await system.serve({ entry: 'mars', grpc: {}, a2a: { delegation: { node: 'b' } } });
});
afterAll(() => system.stop({ drainMs: 0 }));

const textOf = ({ parts }: Message): unknown => parts[0]?.content;
const said = (text: string) => ({ $case: 'text', value: text });

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<never> {
  const answer = await fetch(`${serving.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as never;
}
const rpc = (method: string, params: object, headers?: Record<string, string>) =>
  post('/rpc', { jsonrpc: '2.0', id: 1, method, params }, headers);
const V1 = { 'a2a-version': '1.0' };
const listed = async (): Promise<number> => {
  const { result } = (await rpc('ListTasks', { contextId: 'here' }, V1)) as { result: { totalSize: number } };
  return result.totalSize;
};

describe.each(BINDINGS)("an answer that is a message, to the SDK's own client over %s", (binding) => {
  it('is a message in the conversation, of no task; a stream is that alone', async () => {
    const client = await sdkClient(serving.url, binding);
    const message = (await client.sendMessage(sendRequest('Ada', { contextId: 'here' }))) as Message;
    expect(textOf(message)).toEqual(said('Hello, Ada'));
    expect(message).toMatchObject({ contextId: 'here', taskId: '', role: 2 });
    const unnamed = (await client.sendMessage(sendRequest('Bo'))) as Message;
    expect(unnamed.contextId).not.toBe('');
    const items: StreamResponse[] = [];
    for await (const item of client.sendMessageStream(sendRequest('Cy', { contextId: 'here' })))
      items.push(item);
    expect(items).toHaveLength(1);
    const [payload] = items.map((item) => item.payload);
    expect(payload?.$case === 'message' && textOf(payload.value)).toEqual(said('Hello, Cy'));
    expect(await listed()).toBe(0);
  });
});

const MCP = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' };
function mcp(method: string, params: object, headers: Record<string, string> = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const call = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
  return post('/mcp', call, { ...MCP, 'mcp-method': method, ...headers });
}

describe('a body of more than 1 MiB', () => {
  it('is read in another thread, and answered as a smaller one is, over each protocol over HTTP', async () => {
    const name = 'é"\\x'.repeat(400_000);
    const v1 = { messageId: 'l1', role: 'ROLE_USER', parts: [{ text: name }] };
    const v03 = { kind: 'message', messageId: 'l2', role: 'user', parts: [{ kind: 'text', text: name }] };
    const { result } = (await mcp('tools/list', {})) as { result: { tools: { name: string }[] } };
    const tool = String(result.tools[0]?.name);
    const answers: readonly unknown[] = [
      await rpc('SendMessage', { message: v1 }, V1),
      await rpc('message/send', { message: v03 }),
      await post('/message:send', { message: v1 }, V1),
      await mcp('tools/call', { name: tool, arguments: { input: name } }, { 'mcp-name': tool }),
    ];
    const greeting = JSON.stringify(`Hello, ${name}`).slice(1, -1);
    for (const answer of answers) expect(JSON.stringify(answer).includes(greeting)).toBe(true);
  });

  it('that is no JSON, or has too many members, is refused as a smaller one is', async () => {
    const padding = ' '.repeat(1_048_576);
    const many = `[${Array(200_001).fill(1).join()}]`;
    for (const path of ['/rpc', '/message:send', '/mcp'])
      for (const said of ['[1', many]) {
        const answerTo = async (body: string) => {
          const headers = { 'content-type': 'application/json', ...V1, ...MCP };
          const answer = await fetch(`${serving.url}${path}`, { method: 'POST', headers, body });
          return [answer.status, await answer.text()];
        };
        const small = await answerTo(said);
        expect(small[0]).toBe(said === many ? 413 : path === '/rpc' ? 200 : 400);
        expect(await answerTo(padding + said)).toEqual(small);
      }
  });
});

describe('an answer that is a message', () => {
  it("is one over gRPC, to the SDK's own client", async () => {
    const channel = { grpcChannelCredentials: credentials.createInsecure() };
    const client: Transport = await new GrpcTransportFactory(channel).create(
      serving.grpcAddress as string,
      {} as never,
    );
    const as = asCaller();
    const message = (await client.sendMessage(sendRequest('Ada', { contextId: 'here' }), as)) as Message;
    expect(textOf(message)).toEqual(said('Hello, Ada'));
    const items: StreamResponse[] = [];
    for await (const item of client.sendMessageStream(sendRequest('Cy'), as)) items.push(item);
    expect(items.map(({ payload }) => payload?.$case)).toEqual(['message']);
  });

  it('is one in the words of 0.3, and a task in those of 0.1, which has no other word', async () => {
    const message = { kind: 'message', messageId: 'm1', role: 'user', contextId: 'here' };
    const parts = [{ kind: 'text', text: 'Ada' }];
    expect(await rpc('message/send', { message: { ...message, parts } })).toMatchObject({
      result: {
        kind: 'message',
        role: 'agent',
        contextId: 'here',
        parts: [{ kind: 'text', text: 'Hello, Ada' }],
      },
    });
    const proto = { messageId: 'm2', role: 'ROLE_USER', content: [{ text: 'Ada' }] };
    expect(await post('/v1/message:send', { message: proto })).toMatchObject({
      message: { role: 'ROLE_AGENT', content: [{ text: 'Hello, Ada' }] },
    });
    const old = { role: 'user', parts: [{ type: 'text', text: 'Ada' }] };
    expect(await rpc('tasks/send', { id: 'mine', message: old })).toMatchObject({
      result: {
        id: 'mine',
        status: { state: 'completed' },
        artifacts: [{ parts: [{ text: 'Hello, Ada' }] }],
      },
    });
    expect(await listed()).toBe(0);
  });

  it('that fails is an error: what was thrown is not told, and what is refused is', async () => {
    const send = (text: string) =>
      rpc('SendMessage', { message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] } }, V1);
    const failed = (await send('secret')) as { error: object };
    expect(failed).toMatchObject({
      error: {
        code: -32_603,
        message: 'The agent failed at this',
        data: [{ metadata: { code: 'HANDLER_FAILED', id: expect.any(String) } }],
      },
    });
    expect(JSON.stringify(failed)).not.toContain('hush');
    expect(await send('nobody')).toMatchObject({
      error: { code: -32_051, message: expect.stringContaining('Nobody is greeted') },
    });
  });

  it('is not wanted any more when its caller has gone: the work ends', async () => {
    const end = new AbortController();
    asked = [];
    const gone = fetch(`${serving.url}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...V1 },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm9', role: 'ROLE_USER', parts: [{ text: 'slow' }] } },
      }),
      signal: end.signal,
    }).catch(() => 'gone');
    await until('it has begun', () => asked.includes('slow'));
    end.abort();
    expect(await gone).toBe('gone');
    await until('it is cancelled', () => cancelled === 1);
  });

  it('is the result for a client of ours; who activates delegation has a task, so that nothing is done twice', async () => {
    const client = new RemoteAgentClient(`${serving.url}/mars`);
    const message = { messageId: 'twice', parts: [{ text: 'Di' }] };
    asked = [];
    const first = await client.send(message);
    expect(first).toMatchObject({ kind: 'task', task: { status: { state: 'completed' } } });
    await client.send(message);
    expect(asked).toEqual(['Di']);
    const there = await remoteAgent(`${serving.url}/mars`, { self: 'a', id: 'there' });
    await using other = await startSystem({ agents: [there] });
    expect(await other.ask({ agent: 'there', capability: greet }, 'Ed')).toBe('Hello, Ed');
    const plain = await startSystem({ agents: [mars] });
    try {
      const { url } = await plain.serve({ entry: 'mars' });
      const answer = await new RemoteAgentClient(`${url}/mars`).send({ ...message, messageId: 'once' });
      expect(answer).toMatchObject({ kind: 'message', message: { parts: [{ text: 'Hello, Di' }] } });
      const far = await remoteAgent(`${url}/mars`, { self: 'a', id: 'far' });
      await other.start([far]);
      expect(await other.ask({ agent: 'far', capability: greet }, 'Flo')).toBe('Hello, Flo');
    } finally {
      await plain.stop({ drainMs: 0 });
    }
  });
});
