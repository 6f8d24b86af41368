import { serve } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AddressInfo } from 'node:net';
import { startSystem } from 'orrery';
import { type McpServerOptions, mcpServer } from 'orrery/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf, toolOf } from '../fixtures/mcp/mounted.ts';
import { sdkMcpServer } from '../fixtures/mcp/sdk-mcp-server.ts';
import { rejection, until } from '../fixtures/until.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

interface Call {
  readonly id: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly response: ServerResponse;
}

const TOOLS = [
  'echo',
  'forget',
  'big',
  'big-stream',
  'cut',
  'resumed',
  'hang',
  'nonsense',
  'headers',
  'refuses',
];

/** An MCP server over HTTP with sessions, of 2025-11-25 and by hand, that misbehaves as its tools say. */
class HttpMcpServer implements AsyncDisposable {
  readonly sessions = new Set<string>();
  /** What it was asked to do, by name. */
  readonly calls: string[] = [];
  /** With which event streams were asked to go on. */
  readonly resumed: string[] = [];
  readonly #server: Server;
  #lastHeaders: IncomingMessage['headers'] = {};
  #waiting: { readonly id: number; readonly text: string } | undefined;
  #nextSession = 1;
  /** The bearer token that it wants. */
  readonly token: string | undefined;

  private constructor(token: string | undefined) {
    this.token = token;
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async start({
    token,
    port = 0,
  }: {
    readonly token?: string;
    readonly port?: number;
  } = {}): Promise<HttpMcpServer> {
    const server = new HttpMcpServer(token);
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.token !== undefined && request.headers.authorization !== `Bearer ${this.token}`)
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    const session = request.headers['mcp-session-id'] as string | undefined;
    if (request.method === 'DELETE') {
      this.sessions.delete(session ?? '');
      return void response.writeHead(200).end();
    }
    if (request.method === 'GET') return this.#stream(request, response);
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params = {} } = JSON.parse(text);
    if (method === 'initialize') {
      const opened = `s${this.#nextSession++}`;
      this.sessions.add(opened);
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'by hand', version: '1.0.0' },
      };
      return json(response, { id, result }, { 'mcp-session-id': opened });
    }
    if (method === 'server/discover') return void response.writeHead(400).end();
    if (!this.sessions.has(session ?? '')) return void response.writeHead(404).end();
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'ping') return json(response, { id, result: {} });
    if (method === 'tools/list') {
      const tools = TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } }));
      return json(response, { id, result: { tools } });
    }
    this.#lastHeaders = request.headers;
    this.calls.push(params.name);
    this.#call(params.name, { id, params, response });
  }

  #call(name: string, { id, params, response }: Call): void {
    const say = (text: string): void => json(response, { id, result: textResult(text) });
    switch (name) {
      case 'echo':
        return say(JSON.stringify(params['arguments']));
      case 'headers':
        return say(JSON.stringify(this.#lastHeaders));
      case 'forget':
        this.sessions.clear();
        return say('who are you?');
      case 'big':
        return say('z'.repeat(20_000_000));
      case 'big-stream':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.end(`data: ${'z'.repeat(20_000_000)}\n\n`);
      case 'cut':
        return void response.destroy();
      case 'resumed':
        this.#waiting = { id, text: 'after the cut' };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.end('id: event-1\nretry: 10\ndata:\n\n');
      case 'nonsense':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"no');
      case 'refuses':
        return json(response, { id, error: { code: -32_000, message: 'not today' } });
      default: // It hangs.
    }
  }

  /** What goes on after a cut; nobody else has a stream here. */
  #stream(request: IncomingMessage, response: ServerResponse): void {
    const last = request.headers['last-event-id'] as string | undefined;
    if (last === undefined || this.#waiting === undefined) return void response.writeHead(405).end();
    this.resumed.push(last);
    const { id, text } = this.#waiting;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const message = JSON.stringify({ jsonrpc: '2.0', id, result: textResult(text) });
    response.end(`id: event-2\ndata: ${message}\n\n`);
  }
}

const textResult = (text: string) => ({ content: [{ type: 'text', text }] });

function json(response: ServerResponse, message: object, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

const far = (tool: string) => toolOf('far', tool);
const patient = { timeoutMs: 20_000 };

describe('an MCP server over HTTP, by hand and with sessions', () => {
  const mounted = async (options: Partial<McpServerOptions> = {}) => {
    const server = await HttpMcpServer.start();
    const system = await startSystem({ agents: [mcpServer({ id: 'far', url: server.url, ...options })] });
    const end = async () => {
      await system.stop();
      await server[Symbol.asyncDispose]();
    };
    return { server, system, [Symbol.asyncDispose]: end };
  };

  it('is called, with the headers that it is given, and lets go of its session at the end', async () => {
    const { server, system, ...rest } = await mounted({ headers: { 'x-key': 'mine' } });
    expect(textOf(await system.ask(far('echo'), { a: [1, 2] }))).toBe('{"a":[1,2]}');
    expect(JSON.parse(textOf(await system.ask(far('headers'), {})))).toMatchObject({
      'x-key': 'mine',
      'mcp-protocol-version': '2025-11-25',
    });
    expect(server.sessions.size).toBe(1);
    await system.stop();
    expect(server.sessions.size).toBe(0);
    await rest[Symbol.asyncDispose]();
  });

  it('forgets the session: there is another one, and what was not begun is asked again', async () => {
    await using team = await mounted();
    const { server, system } = team;
    await system.ask(far('forget'), {});
    expect(server.sessions.size).toBe(0);
    expect(textOf(await system.ask(far('echo'), { a: 1 }))).toBe('{"a":1}');
    expect(server.calls).toEqual(['forget', 'echo']);
  });

  it('cuts the answer: the call is told that it may have arrived, and is not made again (N-V03)', async () => {
    await using team = await mounted();
    const { server, system } = team;
    await expect(system.ask(far('cut'), {}, patient)).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: true },
    });
    expect(server.calls).toEqual(['cut']);
    expect(textOf(await system.ask(far('echo'), {}))).toBe('{}');
  });

  it('cuts a stream of events: it goes on from the last one', async () => {
    await using team = await mounted();
    expect(textOf(await team.system.ask(far('resumed'), {}, patient))).toBe('after the cut');
    expect(team.server.resumed).toEqual(['event-1']);
    expect(team.server.calls).toEqual(['resumed']);
  });

  it.each(['big', 'big-stream'])('answers with 20 megabytes (%s): that is no answer', async (tool) => {
    await using team = await mounted();
    expect(await rejection(team.system.ask(far(tool), {}, patient))).toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('more than 4194304 bytes at once'),
    });
    expect(textOf(await team.system.ask(far('echo'), {}))).toBe('{}');
  });

  it('answers with nonsense, or refuses: that is told in its words', async () => {
    await using team = await mounted();
    expect(await rejection(team.system.ask(far('nonsense'), {}, patient))).toMatchObject({
      code: 'REMOTE_FAILED',
    });
    expect(await rejection(team.system.ask(far('refuses'), {}, patient))).toMatchObject({
      code: 'REMOTE_FAILED',
      message: expect.stringContaining('not today'),
    });
  });

  it('hangs: the call ends, and the server answers the next one', async () => {
    await using team = await mounted({ silenceMs: 2_000 });
    expect(await rejection(team.system.ask(far('hang'), {}, patient))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    expect(textOf(await team.system.ask(far('echo'), {}))).toBe('{}');
  });

  it('is not there for a while: calls are told so, and the agent lives', async () => {
    const first = await HttpMcpServer.start();
    const { port } = first;
    await using system = await startSystem({ agents: [mcpServer({ id: 'far', url: first.url })] });
    await first[Symbol.asyncDispose]();
    // The connection that was open breaks under the first one; for the next there is none to be had.
    expect(await rejection(system.ask(far('echo'), {}, patient))).toMatchObject({
      code: 'REMOTE_UNREACHABLE',
    });
    await expect(system.ask(far('echo'), {}, patient)).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
    await using _second = await HttpMcpServer.start({ port });
    expect(textOf(await system.ask(far('echo'), {}, patient))).toBe('{}');
    const crashes = (await system.recentEvents()).filter(({ type }) => type === 'agent-crashed');
    expect(crashes).toEqual([]);
  });

  it('wants to know who calls', async () => {
    await using server = await HttpMcpServer.start({ token: 'right' });
    const auth = { token: () => Promise.resolve('right') };
    await using system = await startSystem({ agents: [mcpServer({ id: 'far', url: server.url, auth })] });
    expect(textOf(await system.ask(far('echo'), {}))).toBe('{}');
    await using other = await startSystem({ agents: [mcpServer({ id: 'far', url: server.url })] });
    const crashed = await until('it does not start', async () =>
      (await other.recentEvents()).find(({ type }) => type === 'agent-crashed'),
    );
    expect(crashed.reason).toMatch(/not authenticated/);
  });
});

describe('an MCP server over HTTP, of the SDK and of 2026-07-28', () => {
  let server: ReturnType<typeof serve>;
  let url: string;
  beforeAll(async () => {
    const handler = createMcpHandler(() => sdkMcpServer());
    server = serve({ fetch: (request) => handler.fetch(request), port: 0, hostname: '127.0.0.1' });
    await new Promise<void>((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  });
  afterAll(() => void server.close());

  it.each(['auto', 'legacy'] as const)('is spoken to in revision %s', async (revision) => {
    await using system = await startSystem({ agents: [mcpServer({ id: 'far', url, revision })] });
    expect(await system.ask(far('add'), { a: 2, b: 3 })).toMatchObject({ structured: { sum: 5 } });
    expect(system.registry.getById('far')?.resources).toHaveLength(1);
  });
});
