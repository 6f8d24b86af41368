import { startSystem } from 'orrery';
import { type McpServerOptions, mcpServer } from 'orrery/mcp';
import { describe, expect, it } from 'vitest';
import { textOf, toolOf } from '../fixtures/mcp/mounted.ts';
import { rejection, until } from '../fixtures/until.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Session {
  readonly stream: ServerResponse;
  isInitialised: boolean;
}

/**
 * An MCP server of 2024-11-05 over HTTP and by hand: what it says comes in one stream of events, which begins with where it is
 * to be told. It takes nothing in a session before that is initialised, and knows no other transport.
 */
class SseMcpServer implements AsyncDisposable {
  readonly sessions = new Map<string, Session>();
  /** What it was asked to do, by name. */
  readonly calls: string[] = [];
  /** Of the last message. */
  lastHeaders: IncomingMessage['headers'] = {};
  tools: string[] = ['echo', 'change', 'cut', 'hang'];
  readonly #server: Server;
  #nextSession = 1;

  private constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async start(port = 0): Promise<SseMcpServer> {
    const server = new SseMcpServer();
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/sse`;
  }

  /** Ends every stream; the sessions go with them. */
  cut(): void {
    for (const { stream } of this.sessions.values()) stream.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url as string, 'http://localhost');
    if (pathname === '/sse' && request.method === 'GET') return this.#open(response);
    if (pathname !== '/messages' || request.method !== 'POST') return void response.writeHead(405).end();
    const session = this.sessions.get(searchParams.get('session') ?? '');
    if (session === undefined) return void response.writeHead(404).end('no such session');
    let text = '';
    for await (const chunk of request) text += chunk;
    this.lastHeaders = request.headers;
    response.writeHead(202).end('Accepted');
    this.#answer(session, JSON.parse(text));
  }

  #open(response: ServerResponse): void {
    const id = String(this.#nextSession++);
    this.sessions.set(id, { stream: response, isInitialised: false });
    response.on('close', () => this.sessions.delete(id));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`);
  }

  #answer(
    session: Session,
    { id, method, params }: { id?: number; method: string; params?: Record<string, unknown> },
  ): void {
    const say = (message: object): void =>
      void session.stream.write(
        `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`,
      );
    if (method === 'notifications/initialized') session.isInitialised = true;
    if (id === undefined) return;
    if (method === 'initialize') {
      const capabilities = { tools: { listChanged: true } };
      return say({
        id,
        result: { protocolVersion: '2024-11-05', capabilities, serverInfo: { name: 'old', version: '1' } },
      });
    }
    if (method === 'ping') return say({ id, result: {} });
    if (!session.isInitialised)
      return say({ id, error: { code: -32_602, message: 'it is not initialised' } });
    if (method === 'tools/list') {
      const tools = this.tools.map((name) => ({ name, inputSchema: { type: 'object' } }));
      return say({ id, result: { tools } });
    }
    const name = String(params?.['name']);
    this.calls.push(name);
    if (name === 'cut') return this.cut();
    if (name === 'hang') return;
    const text = JSON.stringify(params?.['arguments'] ?? {});
    say({ id, result: { content: [{ type: 'text', text }] } });
    if (name !== 'change') return;
    this.tools = ['echo', 'brand-new'];
    say({ method: 'notifications/tools/list_changed' });
  }
}

const old = (tool: string) => toolOf('old', tool);
const patient = { timeoutMs: 20_000 };

async function mounted(options: Partial<McpServerOptions> = {}) {
  const server = await SseMcpServer.start();
  const system = await startSystem({ agents: [mcpServer({ id: 'old', url: server.url, ...options })] });
  const end = async () => {
    await system.stop();
    await server[Symbol.asyncDispose]();
  };
  return { server, system, [Symbol.asyncDispose]: end };
}

describe('an MCP server of 2024-11-05, over HTTP with a stream of events (N-D11)', () => {
  it.each(['auto', 'sse'] as const)(
    'is called, with the headers that it is given, and lets go of its stream at the end: transport %s',
    async (transport) => {
      await using team = await mounted({ transport, headers: { 'x-key': 'mine' } });
      const { server, system } = team;
      expect(textOf(await system.ask(old('echo'), { a: [1, 2] }))).toBe('{"a":[1,2]}');
      expect(server.lastHeaders).toMatchObject({ 'x-key': 'mine' });
      const said = (await system.recentEvents()).find(({ type }) => type === 'server-log')?.reason;
      expect(said).toBe('connected to old 1, in MCP 2024-11-05');
      expect(server.sessions.size).toBe(1);
      await system.stop();
      await until('the stream has ended', () => server.sessions.size === 0);
    },
  );

  it('is not looked for where only the newer transport is wanted', async () => {
    await using team = await mounted({ transport: 'streamable-http' });
    const crashed = await until('it does not start', async () =>
      (await team.system.recentEvents()).find(({ type }) => type === 'agent-crashed'),
    );
    expect(crashed.reason).toMatch(/405/);
    expect(team.server.sessions.size).toBe(0);
  });

  it('says that its list is another one: its card is', async () => {
    await using team = await mounted();
    await team.system.ask(old('change'), {});
    await until('the new tool is there', () =>
      team.system.registry.getById('old')?.capabilities.some(({ id }) => id === 'brand-new'),
    );
    expect(textOf(await team.system.ask(old('brand-new'), {}))).toBe('{}');
  });

  it('hangs: the call ends, and the next one is answered', async () => {
    await using team = await mounted({ silenceMs: 2_000 });
    expect(await rejection(team.system.ask(old('hang'), {}, patient))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    expect(textOf(await team.system.ask(old('echo'), {}))).toBe('{}');
  });

  it('cuts the stream: what was in hand may have arrived, is not made again, and the next has another session (N-V03)', async () => {
    await using team = await mounted();
    const { server, system } = team;
    await expect(system.ask(old('cut'), {}, patient)).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: true },
    });
    server.tools = ['echo', 'other'];
    expect(textOf(await system.ask(old('echo'), { a: 1 }, patient))).toBe('{"a":1}');
    expect(server.calls).toEqual(['cut', 'echo']);
    // What it said meanwhile nobody has heard.
    await until('what is new is there', () =>
      system.registry.getById('old')?.capabilities.some(({ id }) => id === 'other'),
    );
    expect((await system.recentEvents()).filter(({ type }) => type === 'agent-crashed')).toEqual([]);
  });

  it('is not there for a while: calls are told so, and the agent lives', async () => {
    const first = await SseMcpServer.start();
    const { port } = first;
    await using system = await startSystem({ agents: [mcpServer({ id: 'old', url: first.url })] });
    expect(textOf(await system.ask(old('echo'), {}))).toBe('{}');
    await first[Symbol.asyncDispose]();
    await until('that is known', async () =>
      system.ask(old('echo'), {}, patient).then(
        () => false,
        ({ code, details }) => {
          expect(code).toBe('REMOTE_UNREACHABLE');
          return details.mayHaveArrived === false;
        },
      ),
    );
    await using _second = await SseMcpServer.start(port);
    expect(textOf(await system.ask(old('echo'), {}, patient))).toBe('{}');
    expect((await system.recentEvents()).filter(({ type }) => type === 'agent-crashed')).toEqual([]);
  });
});
