import { serve } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AddressInfo } from 'node:net';
import { startSystem } from 'orrery';
import { type McpServerOptions, mcpServer } from 'orrery/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpMcpServer } from '../fixtures/mcp/http-server.ts';
import { textOf, toolOf } from '../fixtures/mcp/mounted.ts';
import { sdkMcpServer } from '../fixtures/mcp/sdk-mcp-server.ts';
import { rejection, until } from '../fixtures/until.ts';

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
    await using team = await mounted({ silenceMs: 300 });
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
