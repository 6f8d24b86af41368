import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { A2AClient, type A2AClientOptions, type A2AError, hashBody, recoverA2APublicKey } from 'orrery/xpr';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publicKeyOfPrivate } from '../../gateway/xpr/chain/k1-signature.ts';
import { ALICES_KEY } from '../fixtures/k1-keys.ts';

interface Got {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that answers as a test says. */
let answer: (got: Got, response: ServerResponse) => void;
const got: Got[] = [];
let server: Server;
let endpoint: string;
beforeEach(async () => {
  got.length = 0;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
      got.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const task = { id: 't-1', status: { state: 'working', timestamp: '2024-01-15T10:30:00Z' }, later: 'kept' };
const idOf = ({ body }: Got): unknown => (JSON.parse(body) as { id: unknown }).id;
const says = (result: unknown) => (one: Got, response: ServerResponse) =>
  response.end(JSON.stringify({ jsonrpc: '2.0', id: idOf(one), result }));
const client = (options: A2AClientOptions = {}) => new A2AClient(endpoint, { timeout: 60_000, ...options });
const failure = (work: Promise<unknown>): Promise<A2AError> =>
  work.then(
    (value) => {
      throw new Error(`It resolved to ${JSON.stringify(value)}`);
    },
    (error: A2AError) => error,
  );
const message = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Analyze this data' }] };

describe('A2AClient', () => {
  it('sends the seed’s requests, and gives the task as it came (X-41, X-42)', async () => {
    answer = says(task);
    const caller = client({ callerAccount: 'alice' });
    const options = { taskId: 't-1', contextId: 'c', jobId: 42, metadata: { other: 1 } };
    expect(await caller.sendMessage(message, options)).toEqual(task);
    await caller.getTask('t-1');
    await caller.cancelTask('t-1');
    const sent = got.map(({ body }) => JSON.parse(body) as { method: string; params: object });
    expect(sent.map(({ method }) => method)).toEqual(['message/send', 'tasks/get', 'tasks/cancel']);
    expect(sent[0]?.params).toEqual({
      message,
      id: 't-1',
      contextId: 'c',
      'xpr:callerAccount': 'alice',
      metadata: { other: 1, 'xpr:jobId': 42 },
    });
    expect(sent[1]?.params).toEqual({ id: 't-1' });
    expect(got.every(({ method, path }) => method === 'POST' && path === '/a2a')).toBe(true);
  });

  it('strips slashes at the end of the endpoint, and keeps its path', async () => {
    answer = says(task);
    await new A2AClient(`${endpoint}/mars//`).getTask('t-1');
    expect(got[0]?.path).toBe('/mars/a2a');
    expect(new A2AClient(`${endpoint}/`).endpoint).toBe(endpoint);
  });

  it('signs when it has an account and a key, as the seed says (X-43, X-09, X-10)', async () => {
    answer = says(task);
    const caller = client({ callerAccount: 'alice', signingKey: ALICES_KEY });
    await caller.getTask('t-1');
    await client({ callerAccount: 'alice' }).getTask('t-1');
    await client({ signingKey: ALICES_KEY }).getTask('t-1');
    const [signed, ...unsigned] = got;
    const headers = signed?.headers ?? {};
    expect(headers['x-xpr-account']).toBe('alice');
    const timestamp = Number(headers['x-xpr-timestamp']);
    const signature = String(headers['x-xpr-signature']);
    const key = recoverA2APublicKey(signature, 'alice', timestamp, hashBody(signed?.body ?? ''));
    expect(key).toBe(publicKeyOfPrivate(ALICES_KEY));
    expect(headers).not.toHaveProperty('x-xpr-nonce');
    for (const one of unsigned) expect(one.headers).not.toHaveProperty('x-xpr-signature');
  });

  it('sends no two bodies that are the same, so that no second one is taken for a replay', async () => {
    answer = says(task);
    const caller = client({ callerAccount: 'alice', signingKey: ALICES_KEY });
    await Promise.all([caller.getTask('t-1'), caller.getTask('t-1')]);
    expect(new Set(got.map(({ headers }) => headers['x-xpr-signature'])).size).toBe(2);
  });

  it('finds the card at the newer path or the older one, and never signs for it (X-42, C-01)', async () => {
    const card = { name: 'My Agent', url: 'https://agent.example.com', 'xpr:trustScore': 82 };
    const caller = client({ callerAccount: 'alice', signingKey: ALICES_KEY });
    for (const there of ['/.well-known/agent-card.json', '/.well-known/agent.json']) {
      answer = ({ path }, response) =>
        path === there ? response.end(JSON.stringify(card)) : response.writeHead(404).end();
      expect(await caller.getAgentCard()).toMatchObject(card);
    }
    answer = ({ path }, response) =>
      response.end(path.endsWith('agent.json') ? JSON.stringify(card) : '{"name":1}');
    expect(await caller.getAgentCard()).toMatchObject(card);
    for (const { headers } of got) expect(headers).not.toHaveProperty('x-xpr-signature');
  });

  it('gives the agent’s own error: code, message and data', async () => {
    answer = (one, response) => {
      const error = {
        code: -32_000,
        message: 'Authentication error',
        data: { reason: 'RATE_LIMITED', retryAfterSeconds: 7 },
      };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: idOf(one), error }));
    };
    expect(await failure(client().getTask('t-1'))).toMatchObject({
      name: 'A2AError',
      code: -32_000,
      message: 'Authentication error',
      data: { reason: 'RATE_LIMITED', retryAfterSeconds: 7 },
    });
    answer = (_, response) =>
      response
        .writeHead(401)
        .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"who are you?"}}');
    expect(await failure(client().getTask('t-1'))).toMatchObject({ code: -32_000, message: 'who are you?' });
  });

  it.each<[string, (one: Got, response: ServerResponse) => void, object]>([
    ['a status', (_, response) => response.writeHead(503).end('busy'), { reason: 'HTTP', status: 503 }],
    ['what is no JSON', (_, response) => response.end('<html>'), { reason: 'INVALID_ANSWER' }],
    ['what is no answer', (_, response) => response.end('{"result":{}}'), { reason: 'INVALID_ANSWER' }],
    [
      'another answer',
      (_, response) =>
        response.end('{"jsonrpc":"2.0","id":7,"result":{"id":"t","status":{"state":"working"}}}'),
      { reason: 'INVALID_ANSWER' },
    ],
    ['no task', says({ id: 't-1', status: { state: 'thinking' } }), { reason: 'INVALID_ANSWER' }],
    ['nothing, and hangs up', (_, response) => response.destroy(), { reason: 'NETWORK' }],
    [
      'half an answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"jsonrpc":');
        setImmediate(() => response.destroy());
      },
      { reason: 'NETWORK' },
    ],
    [
      'a redirection',
      (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      { reason: 'REDIRECT', status: 307 },
    ],
    ['far too much', (_, response) => response.end('x'.repeat(10_000)), { reason: 'TOO_LARGE' }],
    [
      'without an end',
      (_, response) => {
        response.write('x'.repeat(6_000));
        response.write('x'.repeat(6_000));
      },
      { reason: 'TOO_LARGE' },
    ],
  ])('fails with -32000 and the reason on %s', async (_, says, data) => {
    answer = says;
    const error = await failure(
      client({ maxBytes: 8_000, callerAccount: 'alice', signingKey: ALICES_KEY }).getTask('t-1'),
    );
    expect(error).toMatchObject({ name: 'A2AError', code: -32_000, data });
    expect(got).toHaveLength(1);
  });

  it('fails in its time, also when an answer has begun, and when its caller gives up', async () => {
    answer = () => undefined;
    expect(await failure(client({ timeout: 30 }).getTask('t-1'))).toMatchObject({
      code: -32_000,
      data: { reason: 'TIMEOUT', timeoutMs: 30 },
    });
    answer = (_, response) => response.write('{');
    expect(await failure(client({ timeout: 30 }).getAgentCard())).toMatchObject({
      data: { reason: 'TIMEOUT' },
    });
    const giving = new AbortController();
    answer = () => giving.abort();
    expect(await failure(client().getTask('t-1', { signal: giving.signal }))).toMatchObject({
      data: { reason: 'CANCELLED' },
    });
  });

  it('fails when nobody is there', async () => {
    const away = new A2AClient(endpoint, { timeout: 60_000 });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await failure(away.getTask('t-1'))).toMatchObject({ code: -32_000, data: { reason: 'NETWORK' } });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  it.each<[string, string, A2AClientOptions]>([
    ['endpoint', 'agent.example.com', {}],
    ['endpoint', 'ftp://agent.example.com', {}],
    ['endpoint', 'http://agent.example.com', {}],
    ['endpoint', 'http://127.0.0.1.example.com', {}],
    ['endpoint', 'http://127.0.0.1@agent.example.com', {}],
    ['endpoint', 'https://alice:secret@agent.example.com', {}],
    ['endpoint', 'https://agent.example.com/?x=1', {}],
    ['A2AClient.timeout', 'https://agent.example.com', { timeout: 0 }],
    ['A2AClient.callerAccount', 'https://agent.example.com', { callerAccount: 'Alice' }],
    ['signingKey', 'https://agent.example.com', { signingKey: 'no key' }],
  ])('is not made with a wrong %s', (field, url, options) => {
    expect(() => new A2AClient(url, options)).toThrow(field);
    expect(() => new A2AClient(url, options)).not.toThrow('secret');
  });

  it('speaks plain HTTP to this machine alone, unless it is told to (X-53)', () => {
    for (const here of ['http://localhost:1', 'http://127.0.0.1:1', 'http://127.1:1', 'http://[::1]:1'])
      expect(new A2AClient(here).endpoint).toContain('http://');
    for (const away of [
      'http://agent.example.com',
      'http://10.0.0.1',
      'http://localhost.example.com',
      'http://[::2]',
    ])
      expect(() => new A2AClient(away), away).toThrow('an https URL, or allowHttp: true');
    expect(new A2AClient('http://agent.example.com', { allowHttp: true }).endpoint).toBe(
      'http://agent.example.com',
    );
  });

  it('sends no message without parts', async () => {
    await expect(async () => client().sendMessage({ role: 'user', parts: [] })).rejects.toThrow(
      'message.parts',
    );
    expect(got).toEqual([]);
  });
});
