import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { AgentClient, type ClientOptions } from '../../transports/a2a-client/index.ts';
import { cardSigner } from '../../transports/a2a/card-signature.ts';
import { newCertificates } from '../fixtures/certificate.ts';
import { cardOf, type Incoming, result, ScriptedAgent, stream, taskOf } from '../fixtures/scripted-agent.ts';

const say = (text: string) => ({ parts: [{ text }] });
const quick = { backoffMs: 1, maxBackoffMs: 2 } satisfies ClientOptions;
const part = (text: string, id = 'r') => ({ artifactId: id, parts: [{ text }] });
const update = (taskId: string, artifact: unknown, append = false) => ({
  artifactUpdate: { taskId, contextId: 'c', artifact, append },
});
const status = (taskId: string, state: string) => ({
  statusUpdate: { taskId, contextId: 'c', status: { state: `TASK_STATE_${state}` } },
});

async function textOf(client: AgentClient): Promise<string> {
  let text = '';
  for await (const event of client.stream(say('go')))
    if (event.kind === 'artifact')
      for (const one of event.artifact.parts) text += 'text' in one ? one.text : '';
  return text;
}

describe('a server that does not tell the truth (A2A 1.0)', () => {
  const lies: readonly [string, (incoming: Incoming) => void, object][] = [
    [
      'what is no JSON',
      ({ response }) => void response.writeHead(200).end('<html>'),
      { code: 'REMOTE_FAILED' },
    ],
    [
      'what is no JSON-RPC',
      ({ response }) => void response.writeHead(200).end('[]'),
      { code: 'REMOTE_FAILED' },
    ],
    [
      'another one’s answer',
      (call) => result({ ...call, id: 'another' }, { task: taskOf('t', 'COMPLETED') }),
      { code: 'REMOTE_FAILED' },
    ],
    ['a task without a state', (call) => result(call, { task: { id: 't' } }), { code: 'REMOTE_FAILED' }],
    [
      'a state that is none',
      (call) => result(call, { task: taskOf('t', 'DANCING') }),
      { code: 'REMOTE_FAILED' },
    ],
    ['nothing', (call) => result(call, {}), { code: 'REMOTE_FAILED' }],
    [
      'a redirect',
      ({ response }) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end(),
      { code: 'REMOTE_FAILED', message: expect.stringContaining('redirects (307)') },
    ],
    [
      'more than is taken in',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = (): boolean => response.write(' '.repeat(65_536));
        response.on('drain', more);
        more();
      },
      { code: 'REMOTE_FAILED', details: { maxBytes: 100_000 } },
    ],
    [
      'an event without an end',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: ');
        const more = (): boolean => response.write('x'.repeat(65_536));
        response.on('drain', more);
        more();
      },
      { code: 'REMOTE_FAILED', details: { maxChars: 100_000 } },
    ],
    [
      'the events of another task',
      (call) => {
        const tell = stream(call);
        tell({ task: taskOf('t') });
        tell(update('u', part('of another')));
      },
      { code: 'REMOTE_FAILED', message: expect.stringContaining('tells of task "u"') },
    ],
  ];

  it.each(lies)('answers %s', async (_, answer, failure) => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = answer;
    using client = new AgentClient(agent.url, { ...quick, maxAnswerBytes: 100_000, attempts: 2 });
    await expect(client.send(say('go'))).rejects.toMatchObject(failure);
  });

  it('streams without an end: it is read so far and no further', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => {
      const tell = stream(call);
      tell({ task: taskOf('t') });
      const more = (): void => tell(update('t', part('x'.repeat(10_000)), true));
      call.response.on('drain', more);
      for (let at = 0; at < 50; at += 1) more();
    };
    using client = new AgentClient(agent.url, { ...quick, maxStreamBytes: 200_000 });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      details: { maxBytes: 200_000 },
    });
  });

  it('says nothing: it is given up, and what came before counts', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = () => undefined;
    using client = new AgentClient(agent.url, { ...quick, idleMs: 40 });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: true },
    });
    expect(agent.calls).toEqual(['card', 'SendStreamingMessage']);
  });

  it('works for ever: the deadline ends it', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => stream(call)({ task: taskOf('t') });
    using client = new AgentClient(agent.url, quick);
    await expect(client.send(say('go'), { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    const stopping = new AbortController();
    const sending = client.send(say('go'), { signal: stopping.signal });
    stopping.abort();
    await expect(sending).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('sends its callers elsewhere: nobody goes there, and no credentials do', async () => {
    await using elsewhere = await ScriptedAgent.listen();
    await using agent = await ScriptedAgent.listen();
    agent.card = () => cardOf(elsewhere.url);
    using client = new AgentClient(agent.url, { ...quick, credentials: { bearer: 'secret' } });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'INVALID_CARD',
      message: expect.stringContaining(`${elsewhere.url}, which is not among allowedOrigins`),
    });
    expect(elsewhere.calls).toEqual([]);
    elsewhere.answer = (call) => result(call, { task: taskOf('t', 'COMPLETED') });
    using allowed = new AgentClient(agent.url, { ...quick, allowedOrigins: [elsewhere.url] });
    expect(await allowed.send(say('go'))).toMatchObject({ task: { id: 't' } });
  });
});

describe('what a client proves, and says that it speaks', () => {
  it('stands in its headers, over the very body that is sent', async () => {
    await using agent = await ScriptedAgent.listen();
    const ours = { uri: 'urn:orrery:a2a:ext:delegation:1', params: { node: 'b' } };
    agent.card = (base) => cardOf(base, { capabilities: { streaming: false, extensions: [ours] } });
    const seen: Record<string, unknown>[] = [];
    agent.answer = (call) => {
      seen.push(call.request.headers);
      result(call, { task: taskOf('t', 'COMPLETED') });
    };
    const send = async (options: ClientOptions): Promise<Record<string, unknown>> => {
      using client = new AgentClient(agent.url, { ...quick, ...options });
      await client.send({ ...say('go'), delegation: { deadlineMs: 5 } });
      return seen.at(-1) ?? {};
    };
    expect(await send({ credentials: { bearer: 'b' } })).toMatchObject({
      authorization: 'Bearer b',
      'a2a-version': '1.0',
    });
    expect(await send({ credentials: { apiKey: 'k' } })).toMatchObject({ 'x-api-key': 'k' });
    const signed = await send({
      credentials: {
        headers: async ({ method, body }) => ({ 'x-signed': `${method} ${body.includes('"go"')}` }),
      },
      extensions: ['urn:other'],
    });
    expect(signed).toMatchObject({ 'x-signed': 'POST true', 'a2a-extensions': `${ours.uri}, urn:other` });
  });
});

describe('over TLS', () => {
  it('speaks to whom an authority vouches for that it trusts, and sends the others nothing', async () => {
    const { ca, cert, key } = newCertificates();
    await using agent = await ScriptedAgent.listen({ cert, key });
    agent.answer = (call) => result(call, { task: taskOf('t', 'COMPLETED') });
    using trusting = new AgentClient(agent.url, { ...quick, tls: { ca } });
    expect(await trusting.send(say('go'))).toMatchObject({ task: { id: 't' } });
    const calls = agent.calls.length;
    using other = new AgentClient(agent.url, { ...quick, attempts: 2 });
    await expect(other.card()).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
    expect(agent.calls).toHaveLength(calls);
  });
});

describe('a stream that is cut', () => {
  it('goes on after the last event, where events have ids', async () => {
    await using agent = await ScriptedAgent.listen();
    const resumed: unknown[] = [];
    agent.answer = (call) => {
      const tell = stream(call);
      if (call.method === 'SendStreamingMessage') {
        tell({ task: taskOf('t') }, '1');
        tell(update('t', part('one ')), '2');
        setImmediate(() => call.response.destroy());
        return;
      }
      resumed.push(call.request.headers['last-event-id']);
      // It tells the last one again, and is not believed.
      tell(update('t', part('one ')), '2');
      tell(update('t', part('two'), true), '3');
      tell(status('t', 'COMPLETED'), '4');
      call.response.end();
    };
    using client = new AgentClient(agent.url, quick);
    expect(await textOf(client)).toBe('one two');
    expect(resumed).toEqual(['2']);
  });

  it('shows what was missed, where the server begins with the task', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.answer = (call) => {
      const tell = stream(call);
      if (call.method === 'SendStreamingMessage') {
        tell({ task: taskOf('t') });
        tell(update('t', part('one ')));
        setImmediate(() => call.response.destroy());
        return;
      }
      const parts = [{ text: 'one ' }, { text: 'two ' }];
      tell({ task: taskOf('t', 'WORKING', [{ artifactId: 'r', parts }]) });
      tell(update('t', part('three'), true));
      tell(status('t', 'COMPLETED'));
      call.response.end();
    };
    using client = new AgentClient(agent.url, quick);
    expect(await textOf(client)).toBe('one two three');
  });

  it('asks how the task is, where the server says nothing of that or nobody can subscribe', async () => {
    for (const canSubscribe of [true, false]) {
      await using agent = await ScriptedAgent.listen();
      agent.answer = (call) => {
        if (call.method === 'GetTask') {
          const parts = [{ text: 'one ' }, { text: 'two ' }, ...(canSubscribe ? [] : [{ text: 'three' }])];
          result(call, taskOf('t', canSubscribe ? 'WORKING' : 'COMPLETED', [{ artifactId: 'r', parts }]));
          return;
        }
        if (call.method === 'SubscribeToTask' && !canSubscribe) {
          const error = { code: -32_004, message: 'the task is over' };
          call.response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
          return;
        }
        const tell = stream(call);
        if (call.method === 'SendStreamingMessage') {
          tell({ task: taskOf('t') });
          tell(update('t', part('one ')));
          setImmediate(() => call.response.destroy());
          return;
        }
        tell(update('t', part('two '), true));
        tell(update('t', part('three'), true));
        tell(status('t', 'COMPLETED'));
        call.response.end();
      };
      using client = new AgentClient(agent.url, quick);
      expect(await textOf(client)).toBe('one two three');
    }
  });

  it('is not sent again where it may have arrived, except to who takes a message once', async () => {
    for (const idempotent of [false, true]) {
      await using agent = await ScriptedAgent.listen();
      const delegation = { uri: 'urn:orrery:a2a:ext:delegation:1', params: { node: 'b', idempotent } };
      agent.card = (base) => cardOf(base, { capabilities: { streaming: true, extensions: [delegation] } });
      const ids: unknown[] = [];
      agent.answer = (call) => {
        ids.push((call.params['message'] as { messageId: string }).messageId);
        if (ids.length === 1) call.response.destroy();
        else stream(call)({ task: taskOf('t', 'COMPLETED') });
      };
      using client = new AgentClient(agent.url, quick);
      const sending = client.send(say('go'));
      if (idempotent) expect(await sending).toMatchObject({ task: { id: 't' } });
      else
        await expect(sending).rejects.toMatchObject({
          code: 'REMOTE_UNREACHABLE',
          details: { mayHaveArrived: true },
        });
      expect(new Set(ids).size).toBe(1);
      expect(ids).toHaveLength(idempotent ? 2 : 1);
    }
  });

  it('is tried again when nobody was there: nothing can have arrived', async () => {
    using client = new AgentClient('http://127.0.0.1:9', { ...quick, attempts: 3 });
    await expect(client.send(say('go'))).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
  });
});

describe('the card of an agent elsewhere (C-01)', () => {
  it('is asked for by its ETag, and at the older place where there is none', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = undefined;
    const asked: unknown[] = [];
    agent.answer = ({ request, response }) => {
      if (request.url !== '/.well-known/agent.json') return void response.writeHead(404).end();
      asked.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304).end();
      const { supportedInterfaces: _, ...card } = cardOf(agent.url);
      const old = { ...card, url: `${agent.url}/rpc`, protocolVersion: '0.2.5' };
      response.writeHead(200, { etag: '"1"', 'cache-control': 'no-cache' }).end(JSON.stringify(old));
    };
    using client = new AgentClient(agent.url, quick);
    expect((await client.card()).interfaces).toMatchObject([{ version: '0.3', binding: 'JSONRPC' }]);
    expect((await client.card()).name).toBe('Scripted');
    expect(asked).toEqual([undefined, '"1"']);
    expect(agent.calls.filter((call) => call.includes('agent-card'))).toHaveLength(1);
  });

  it('falls back to what is spoken there', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = (base) => {
      const { supportedInterfaces: _, ...card } = cardOf(base, { capabilities: {} });
      return { ...card, url: `${base}/rpc` };
    };
    agent.answer = (call) => {
      if (call.method === 'tasks/send') {
        const { id } = call.params;
        return result(call, {
          id,
          sessionId: 's',
          status: { state: 'completed' },
          artifacts: [{ parts: [{ type: 'text', text: 'old' }], index: 0 }],
        });
      }
      const error = { code: -32_601, message: 'Method not found' };
      call.response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
    };
    using client = new AgentClient(agent.url, quick);
    const answer = await client.send(say('go'));
    expect(answer).toMatchObject({
      task: { status: { state: 'completed' }, artifacts: [{ parts: [{ text: 'old' }] }] },
    });
    expect(agent.calls).toEqual(['card', 'message/send', 'tasks/send']);
    await client.send(say('again'));
    expect(agent.calls.slice(3)).toEqual(['tasks/send']);
  });

  it('is believed when a trusted key has signed it, and then only as far as that', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const mine = { ...(await exportJWK(privateKey)), kid: 'k1', alg: 'ES256' };
    const trusted = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', kty: 'EC' };
    const other = await generateKeyPair('ES256', { extractable: true });
    const foreign = { ...(await exportJWK(other.privateKey)), kid: 'k1', alg: 'ES256' };
    await using agent = await ScriptedAgent.listen();
    const cardWith = async (options: ClientOptions): Promise<string> => {
      using client = new AgentClient(agent.url, { ...quick, ...options });
      return client.card().then(
        ({ name }) => name,
        (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
      );
    };
    const trust = { keys: [trusted] };
    const signed = (await cardSigner({ key: mine })(cardOf(agent.url) as never)) as Record<string, unknown>;
    const shown = (card: unknown): void => {
      agent.card = () => card;
    };
    shown(signed);
    expect(await cardWith({ trust })).toBe('Scripted');
    shown(cardOf(agent.url));
    expect(await cardWith({ trust })).toContain(
      'UNAUTHENTICATED: The request is not authenticated: the card',
    );
    expect(await cardWith({ trust, requireSignedCard: false })).toBe('Scripted');
    expect(await cardWith({ requireSignedCard: true })).toContain('is not signed');
    shown({ ...signed, name: 'Forged' });
    expect(await cardWith({ trust })).toContain('no signature');
    shown(await cardSigner({ key: foreign })(cardOf(agent.url) as never));
    expect(await cardWith({ trust })).toContain('no signature');
    shown({ ...signed, url: 'http://127.0.0.1:9/', protocolVersion: '0.3.0' });
    using client = new AgentClient(agent.url, { ...quick, trust });
    expect((await client.card()).interfaces).toHaveLength(1);
  });

  it('is refused with what is wrong with it', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = () => ({ description: 5, skills: {} });
    using client = new AgentClient(agent.url, quick);
    await expect(client.card()).rejects.toMatchObject({
      code: 'INVALID_CARD',
      message: expect.stringContaining('name:'),
    });
    expect(() => new AgentClient('ftp://x', {}, systemSeams())).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    );
    expect(() => new AgentClient('http://x', { attempts: 0 })).toThrow('client.attempts');
  });
});
