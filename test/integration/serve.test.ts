import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSystemTasks } from '../../actors/tasks/system-tasks.ts';
import { createSystemGateway, type ServeOptions, serve, serveStdio } from 'orrery/gateway';
import { type StartOptions, startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from '../../gateway/admit/api-keys.ts';
import { slidingWindow } from '../../gateway/admit/sliding-window.ts';
import type { Authenticator } from '../../runtime/protocol/admission.ts';
import { ANONYMOUS } from '../../runtime/protocol/principal.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { fail, greeter } from '../fixtures/agents/greeter.agent.ts';
import { systemWithFaultyControl } from '../fixtures/faulty-control.ts';
import { resultOf, runFixture } from '../fixtures/run-fixture.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const opened: Team[] = [];
async function team(options: Partial<StartOptions> = {}): Promise<Team> {
  const system = await startSystem({
    agents: [agent('greeter')],
    workers: 1,
    spareThread: false,
    ...options,
  });
  opened.push(system);
  return system;
}
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

const message = (tool: string, args: unknown, id = 'm1') => ({
  message: { messageId: id, role: 'ROLE_USER', parts: [{ data: { tool, arguments: args } }] },
});

const call = (url: string, method: string, params: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/greeter/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

const { key, record } = newApiKey({ kind: 'service', tenant: 'acme' });
const authenticators = [apiKeys([record], { clock: systemClock })];

describe('A system that is served (DESIGN 8)', () => {
  it('answers over A2A, tells what it serves, and is closed by its own stop', async () => {
    const system = await team();
    const serving = await system.serve({ name: 'Trial', entry: 'greeter' });
    const { url } = serving;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { name: string };
    expect(card.name).toBe('Trial');
    const answer = await call(url, 'SendMessage', message('greeting.make', { name: 'you' }));
    expect(await answer.text()).toContain('hello, you');
    expect(serving.routes).toContainEqual({
      method: 'GET',
      path: '/healthz',
      serves: 'whether the process lives',
    });
    expect(serving.team.cards().map(({ id }) => id)).toEqual(['greeter']);
    expect(serving.admits).toEqual({ anonymous: true, schemes: [] });
    await system.stop();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('leaves nothing behind: a process that served ends by itself', async () => {
    expect(await resultOf(runFixture('serving-host', []))).toEqual({ status: 200, metrics: true, left: [] });
  });

  it('goes on when it is not served any more, and may be served again, also twice', async () => {
    const system = await team();
    const first = await system.serve();
    const second = await serve(system);
    expect(second.port).not.toBe(first.port);
    const sent = await call(first.url, 'SendMessage', message('greeting.make', { name: 'you' }));
    const { result } = (await sent.json()) as { result: { task: { id: string } } };
    await first.close();
    const seen = await call(second.url, 'GetTask', { id: result.task.id });
    expect(await seen.text()).toContain('hello, you');
    await second.close();
    const third = await system.serve();
    expect((await fetch(`${third.url}/healthz`)).status).toBe(200);
  });

  it('ends work in hand when it stops, after the time that it gives', async () => {
    const system = await team();
    const { url, inHand } = await system.serve();
    const late = call(url, 'SendMessage', message('greeting.dawdle', { ms: 60_000 })).then(
      (answer) => answer.status,
      () => 'cut',
    );
    await until('the request is in hand', () => inHand() === 1);
    await system.stop({ drainMs: 100 });
    expect(['cut', 200, 503]).toContain(await late);
  });

  it('shows only those that are to be seen', async () => {
    const system = await team({ agents: [agent('greeter'), { ...agent('greeter'), instances: ['other'] }] });
    const { url, team: served } = await system.serve({ expose: ['greeter'] });
    expect(served.card('other')).toBeUndefined();
    expect((await fetch(`${url}/greeter/.well-known/agent.json`)).status).toBe(200);
    expect((await fetch(`${url}/other/.well-known/agent.json`)).status).toBe(404);
    const { revision } = served;
    await system.start([{ ...agent('greeter'), instances: ['third'] }]);
    expect(served.revision).toBe(revision);
  });

  it('takes each call of a batch for a request, of somebody who has proved who they are once', async () => {
    const system = await team();
    let proofs = 0;
    const once: Authenticator = {
      scheme: 'Once',
      authenticate: async () => (proofs++ === 0 ? ANONYMOUS : undefined),
    };
    const rules = [slidingWindow({ requests: 3, windowMs: 3_600_000 }, { clock: systemClock })];
    const { url } = await system.serve({ authenticators: [once], rules });
    const calls = [1, 2, 3, 4, 5].map((id) => ({ jsonrpc: '2.0', id, method: 'ListTasks', params: {} }));
    const response = await fetch(`${url}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify(calls),
    });
    const answers = (await response.json()) as { id: number; error?: { data: { reason: string }[] } }[];
    expect(answers.map(({ id, error }) => [id, error?.data[0]?.reason])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [4, 'RATE_LIMITED'],
      [5, 'RATE_LIMITED'],
    ]);
    expect(proofs).toBe(1);
  });

  it('speaks gRPC on a second port, which its cards name', async () => {
    const system = await team();
    const { url, grpcAddress = '' } = await system.serve({ grpc: {} });
    expect(grpcAddress).toMatch(/^127\.0\.0\.1:\d+$/);
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).text();
    expect(card).toContain(grpcAddress);
  });

  it('refuses what is no option, and leaves nothing of it open', async () => {
    const system = await team({ agents: [greeter] });
    const refused: readonly [ServeOptions, string][] = [
      [{ expose: ['nobody'] }, 'expose[0] is "nobody", expected the id of an agent of the team'],
      [{ entry: 'nobody' }, 'entry is "nobody"'],
      [{ host: '0.0.0.0' }, 'host is "0.0.0.0"'],
      [{ anonymous: false }, 'authenticators is [], expected at least one, or anonymous: true'],
      [{ port: -1 }, 'port is -1'],
      [{ limits: { maxBodyBytes: -1 } }, 'limits.maxBodyBytes is -1'],
      [{ authenticators: ['key'] } as unknown as ServeOptions, 'authenticators[0] is "key"'],
      [{ ports: 1 } as unknown as ServeOptions, 'ports is 1, expected no option of this name'],
      [{ a2a: { heartbeatMs: 0 } }, 'a2a.heartbeatMs is 0'],
      [{ a2a: false, grpc: {} }, 'grpc is'],
      [{ grpc: { prt: 1 } } as unknown as ServeOptions, 'grpc.prt is 1, expected no option of this name'],
      [{ grpc: 1 } as unknown as ServeOptions, 'grpc is 1, expected an object'],
      [{ grpc: { tls: { key: 'hush', cert: 'x' } } }, 'grpc.tls.key is "something else"'],
      [{ tasks: { limit: {} } } as unknown as ServeOptions, 'tasks.limit is {}, expected no option of this'],
      [{ tasks: 1 } as unknown as ServeOptions, 'tasks is 1, expected an object'],
      [{ hosts: ['a b'] }, 'hosts[0] is "a b", expected a name such as'],
      [{ hosts: 'a' } as unknown as ServeOptions, 'hosts is "a", expected names, or "any"'],
      [{ a2a: true } as unknown as ServeOptions, 'a2a is true, expected options, or false'],
    ];
    for (const [options, why] of refused) {
      const { code, message } = await rejection(system.serve(options));
      expect({ code, message }).toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining(why),
      });
    }
    expect((await fetch(`${(await system.serve()).url}/healthz`)).status).toBe(200);
  });

  it('is one that runs: others are refused, and nothing of it is open', async () => {
    const none = { code: 'INVALID_OPTIONS', message: 'system is {}, expected a system of startSystem' };
    for (const given of [serve, createSystemGateway, serveStdio])
      expect(await rejection(given({} as never))).toMatchObject(none);
    expect(await rejection(openSystemTasks({} as never))).toMatchObject(none);
    const system = await team();
    await system.stop();
    for (const given of [
      () => system.serve(),
      () => createSystemGateway(system, { anonymous: true }),
      () => serveStdio(system, { input: new PassThrough(), output: new PassThrough() }),
    ])
      expect(await rejection(given())).toMatchObject({ code: 'SYSTEM_STOPPED' });
  });

  it('has tasks, and streams, whose options are named when they are none', async () => {
    const system = await team();
    expect(await rejection(openSystemTasks(system, { limts: 1 } as never))).toMatchObject({
      message: 'tasks.limts is 1, expected no option of this name',
    });
    expect(await rejection(serveStdio(system, { inpt: 1 } as never))).toMatchObject({
      message: 'inpt is 1, expected no option of this name',
    });
    expect(await rejection(serveStdio(system, { input: 3 } as never))).toMatchObject({
      message: 'input is 3, expected a stream to read from',
    });
  });
});

describe('Who comes in (L-10, C-25, C-31)', () => {
  it('anybody of this machine without authenticators; with them, whoever proves who they are', async () => {
    const system = await team();
    const { url, admits } = await system.serve({ authenticators, host: '0.0.0.0' });
    expect(admits).toEqual({ anonymous: false, schemes: ['ApiKey'] });
    const hello = message('greeting.make', { name: 'you' });
    const refused = await call(url, 'SendMessage', hello);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('ApiKey');
    const other = newApiKey({ kind: 'service', tenant: 'acme' }).key;
    expect((await call(url, 'SendMessage', hello, { 'x-api-key': other })).status).toBe(401);
    const sent = await call(url, 'SendMessage', hello, { 'x-api-key': key });
    expect(await sent.text()).toContain('hello, you');
  });

  it('what is counted is for those who prove who they are, where others can reach it', async () => {
    const system = await team();
    const { url } = await system.serve({ authenticators, host: '0.0.0.0', anonymous: true });
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const read = await fetch(`${url}/metrics`, { headers: { 'x-api-key': key } });
    expect(await read.text()).toContain('orrery_envelopes_accepted_total');
    const local = await system.serve({ authenticators });
    expect((await fetch(`${local.url}/metrics`)).status).toBe(200);
  });
});

describe('GET /readyz, and GET /healthz (DESIGN 8)', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orrery-serve-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const health = async (url: string, headers: Record<string, string> = {}, path = 'readyz') => {
    const answer = await fetch(`${url}/${path}`, { headers });
    return { status: answer.status, body: (await answer.json()) as object };
  };
  /** The embedder has it fail: what callers have it fail at is charged to them. */
  const givenUp = async (system: Team) => rejection(system.ask({ agent: 'greeter', capability: fail }, {}));
  const fresh = (url: string, status: number) =>
    until(`readyz says ${status}`, async () => (await health(url)).status === status);

  it('says 503 and which agent failed, and 200 when it is there again', async () => {
    const system = await team({ supervision: { intensity: { maxRestarts: 0, withinMs: 60_000 } } });
    const { url } = await system.serve();
    expect(await health(url)).toEqual({ status: 200, body: { status: 'ok' } });
    await givenUp(system);
    await fresh(url, 503);
    expect((await health(url)).body).toMatchObject({
      status: 'degraded',
      troubles: [{ kind: 'agent-failed', what: 'greeter is failed: its event agent-failed says why' }],
    });
    // The process lives, and the gateway serves the others.
    expect(await health(url, {}, 'healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    const events = await system.recentEvents();
    expect(events.some(({ type, agentId }) => type === 'agent-failed' && agentId === 'greeter')).toBe(true);
    await system.restart('greeter');
    await fresh(url, 200);
  });

  it('tells those who prove nothing only what sort of trouble there is, where others can reach it', async () => {
    const system = await team({ supervision: { intensity: { maxRestarts: 0, withinMs: 60_000 } } });
    const { url } = await system.serve({ authenticators, host: '0.0.0.0' });
    await givenUp(system);
    await fresh(url, 503);
    expect((await health(url)).body).toEqual({ status: 'degraded', troubles: [{ kind: 'agent-failed' }] });
    expect(JSON.stringify((await health(url, { 'x-api-key': key })).body)).toContain('greeter');
  });

  it('says so when the control thread is gone', async () => {
    const { system, kill } = await systemWithFaultyControl('killed', join(folder, 'sign'), {
      agents: [agent('greeter')],
    });
    const serving = await serve(system);
    expect((await health(serving.url)).status).toBe(200);
    await kill();
    await fresh(serving.url, 503);
    expect((await health(serving.url)).body).toMatchObject({ troubles: [{ kind: 'control-lost' }] });
    expect(await health(serving.url, {}, 'healthz')).toMatchObject({
      status: 503,
      body: { troubles: [{ kind: 'control-lost' }] },
    });
    await system.stop();
    await expect(fetch(serving.url)).rejects.toThrow();
  });

  it('says so when the journal fails: there is no room for more', async () => {
    const limited = ['bash', '-c', 'ulimit -S -f 4000 && exec "$0" "$@"'];
    const said = await resultOf(runFixture('full-journal-host', [folder], limited));
    expect(said).toMatchObject({
      before: { status: 200 },
      later: { status: 503, body: { troubles: [{ kind: 'journal-failing' }] } },
    });
  });
});

describe("A system's gateway in a server of one's own (DESIGN 8)", () => {
  it('answers as fetch does, and closes when the system stops', async () => {
    const system = await team();
    const gateway = await createSystemGateway(system, {
      anonymous: true,
      publicUrl: 'https://agents.example',
    });
    const server = createServer(getRequestListener(gateway.fetch, { overrideGlobalObjects: false }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    const answer = await call(url, 'SendMessage', message('greeting.make', { name: 'you' }));
    expect(await answer.text()).toContain('hello, you');
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).text();
    expect(card).toContain('https://agents.example/rpc');
    await system.stop();
    expect((await fetch(`${url}/rpc`, { method: 'POST' })).status).toBe(503);
    server.closeAllConnections();
    server.close();
  });

  it('lets nobody in who proves nothing, unless it is told to', async () => {
    const system = await team();
    expect((await rejection(createSystemGateway(system))).message).toContain('or anonymous: true');
    const { fetch: ask } = await createSystemGateway(system, { authenticators });
    const answer = await ask(
      new Request('http://localhost/greeter/rpc', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
      }),
    );
    expect(answer.status).toBe(401);
  });
});

describe('Streams that another process opens and drops, of a real team (DESIGN 8)', () => {
  it('leave nothing behind', async () => {
    const system = await team();
    const { url, port, inHand } = await system.serve();
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: message('greeting.dawdle', { ms: 120_000 }),
    });
    const head = [
      'POST /greeter/rpc HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'A2A-Version: 1.0',
      `Content-Length: ${body.length}`,
    ];
    // The same message each time: all of them watch one task.
    const request = `${head.join('\\r\\n')}\\r\\n\\r\\n${body}`;
    const dropper = runFixture('stream-dropper', [String(port), '2000', '500', request]);
    expect(await resultOf(dropper)).toEqual({ begun: 2_000 });
    await until('nothing is in hand', () => inHand() === 0);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
