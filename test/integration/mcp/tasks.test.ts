import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startSystem, type Team } from 'orrery';
import { modernRpc } from '../../fixtures/mcp/raw-mcp.ts';
import { begunSession, type RawSession } from '../../fixtures/mcp/raw-session.ts';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';
import { until } from '../../fixtures/until.ts';

const opened: Team[] = [];
async function served({ agents } = agentsOfMcp(), journal?: { path: string }) {
  const system = await startSystem({
    agents,
    workers: 1,
    spareThread: false,
    ...(journal === undefined ? {} : { journal }),
  });
  opened.push(system);
  const { url } = await system.serve({ mcp: { tasks: 'preferred' } });
  return { system, url };
}
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

const RELATED = 'io.modelcontextprotocol/related-task';
const AnyResult = z.looseObject({});
const begin = async (session: RawSession, name: string, args: object = {}): Promise<string> => {
  const { result } = await session.rpc('tools/call', { name, arguments: args, task: { ttl: 60_000 } });
  return (result as { task: { taskId: string } }).task.taskId;
};

describe('Tasks of 2025-11-25 (C-17)', () => {
  it('are begun by whoever asks for one, and have the result of their tool', async () => {
    const { url } = await served();
    const session = await begunSession(url);
    const { tools } = (await session.rpc('tools/list')).result as { tools: { name: string }[] };
    expect(tools.find(({ name }) => name === 'clerk.add')).toMatchObject({
      execution: { taskSupport: 'optional' },
    });
    const taskId = await begin(session, 'clerk.add', { a: 1, b: 2 });
    expect((await session.rpc('tasks/result', { taskId })).result).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
      _meta: { [RELATED]: { taskId } },
    });
    expect((await session.rpc('tasks/get', { taskId })).result).toMatchObject({
      taskId,
      status: 'completed',
      ttl: null,
      pollInterval: 500,
    });
    // Whoever does not ask is answered.
    const plain = await session.rpc('tools/call', { name: 'clerk.add', arguments: { a: 1, b: 2 } });
    expect(plain.result).toMatchObject({ structuredContent: { sum: 3 } });
  });

  it('have the error of their tool as their result', async () => {
    const session = await begunSession((await served()).url);
    const taskId = await begin(session, 'clerk.refuse');
    expect((await session.rpc('tasks/result', { taskId })).result).toMatchObject({
      isError: true,
      _meta: { [RELATED]: { taskId } },
    });
  });

  it('ask the client when it waits for their result, and go on with its answer', async () => {
    const { url } = await served();
    const client = new Client({ name: 'trial', version: '1.0.0' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', ({ params }) => {
      expect(params.message).toBe('Who signs?');
      return { action: 'accept', content: { name: 'Ada' } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    try {
      const call = { name: 'clerk.sign', arguments: {}, task: {} };
      const begun = await client.request({ method: 'tools/call', params: call }, AnyResult);
      const { taskId } = (begun as unknown as { task: { taskId: string } }).task;
      const result = await client.request({ method: 'tasks/result', params: { taskId } } as never, AnyResult);
      expect(result).toMatchObject({ structuredContent: { result: 'signed by Ada' } });
    } finally {
      await client.close();
    }
  });

  it('are listed page by page, the newest first, and only what is a call of a tool', async () => {
    const { agents } = agentsOfMcp();
    const system = await startSystem({ agents, workers: 1, spareThread: false });
    opened.push(system);
    const { url } = await system.serve({ mcp: { pageSize: 2 } });
    const session = await begunSession(url);
    const ids: string[] = [];
    for (let a = 0; a < 5; a += 1) {
      const taskId = await begin(session, 'clerk.add', { a, b: 0 });
      await session.rpc('tasks/result', { taskId });
      ids.unshift(taskId);
    }
    const listed: string[] = [];
    let cursor: unknown;
    let pages = 0;
    do {
      const { result } = await session.rpc('tasks/list', cursor === undefined ? {} : { cursor });
      const page = result as { tasks: { taskId: string }[]; nextCursor?: string };
      listed.push(...page.tasks.map(({ taskId }) => taskId));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(listed).toEqual(ids);
    expect(pages).toBe(3);
    expect((await session.rpc('tasks/list', { cursor: 'not one' })).error).toMatchObject({ code: -32602 });
  });

  it('are cancelled in their agent, once', async () => {
    const { agents, aborted, begun } = agentsOfMcp({ waiting: 1 });
    const session = await begunSession((await served({ agents, aborted, begun })).url);
    const taskId = await begin(session, 'waiter-0.wait');
    await until('its agent is at it', () => begun.count === 1);
    expect((await session.rpc('tasks/cancel', { taskId })).result).toMatchObject({ status: 'cancelled' });
    await until('its agent has seen it', () => aborted.count === 1);
    expect((await session.rpc('tasks/cancel', { taskId })).error).toMatchObject({ code: -32602 });
    expect((await session.rpc('tasks/result', { taskId })).result).toMatchObject({ isError: true });
  });
});

describe('A task in a system with a journal (C-17)', () => {
  it('asks before a restart of the system, and is answered after it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orrery-mcp-tasks-'));
    try {
      const journal = { path: join(folder, 'journal.db') };
      const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
      const first = await served(agentsOfMcp(), journal);
      const sign = { name: 'clerk.sign', arguments: {} };
      const { json } = await modernRpc(first.url, 'tools/call', sign, { capabilities });
      const { taskId } = (json as { result: { taskId: string } }).result;
      const statusAt = async (url: string, wanted: string) =>
        until(`it is ${wanted}`, async () => {
          const answer = await modernRpc(url, 'tasks/get', { taskId }, { capabilities });
          const { result } = answer.json as { result: { status: string } };
          return result.status === wanted && result;
        });
      const before = await statusAt(first.url, 'input_required');
      await first.system.stop({ drainMs: 0 });
      const second = await served(agentsOfMcp(), journal);
      expect(await statusAt(second.url, 'input_required')).toEqual(before);
      const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
      await modernRpc(second.url, 'tasks/update', { taskId, inputResponses }, { capabilities });
      expect(await statusAt(second.url, 'completed')).toMatchObject({
        result: { structuredContent: { result: 'signed by Ada' } },
      });
    } finally {
      for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
