import { afterEach, describe, expect, it } from 'vitest';
import { type McpOptions, serve } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from '../../../gateway/admit/api-keys.ts';
import { slidingWindow } from '../../../gateway/admit/sliding-window.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { modernRpc } from '../../fixtures/mcp/raw-mcp.ts';
import { begunSession } from '../../fixtures/mcp/raw-session.ts';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';

const [alice, bob] = [newApiKey({ kind: 'user' }), newApiKey({ kind: 'user' })];
const keys = { alice: { 'x-api-key': alice.key }, bob: { 'x-api-key': bob.key } };
const authenticators = [apiKeys([alice.record, bob.record], { clock: systemClock })];
const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const sum = { name: 'clerk.add', arguments: { a: 1, b: 1 } };

const opened: Team[] = [];
async function team(): Promise<Team> {
  const system = await startSystem({ agents: agentsOfMcp().agents, workers: 1, spareThread: false });
  opened.push(system);
  return system;
}
const served = async (mcp: McpOptions) => (await serve(await team(), { authenticators, mcp })).url;
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

describe('What is somebody else’s', () => {
  it('is no task to anybody but its owner', async () => {
    const url = await served({ tasks: 'preferred' });
    const sign = { name: 'clerk.sign', arguments: {} };
    const begun = await modernRpc(url, 'tools/call', sign, { capabilities, headers: keys.alice });
    const { taskId } = (begun.json as { result: { taskId: string } }).result;
    const inputResponses = { who: { action: 'accept', content: { name: 'Bob' } } };
    for (const [method, params] of [
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses }],
      ['tasks/cancel', { taskId }],
    ] as const) {
      const answer = await modernRpc(url, method, params, { capabilities, headers: keys.bob });
      expect(answer.json).toMatchObject({
        error: { code: -32602, message: expect.stringContaining(taskId) as string },
      });
    }
    const own = await modernRpc(url, 'tasks/get', { taskId }, { capabilities, headers: keys.alice });
    expect(own.json).toMatchObject({ result: { taskId } });
    const session = await begunSession(url, { headers: keys.bob });
    expect((await session.rpc('tasks/list')).result).toEqual({ tasks: [] });
    expect((await session.rpc('tasks/result', { taskId })).error).toMatchObject({ code: -32602 });
  });

  it('is no state that goes on with a call', async () => {
    const url = await served({});
    const sign = { name: 'clerk.sign', arguments: {} };
    const { json } = await modernRpc(url, 'tools/call', sign, { capabilities, headers: keys.alice });
    const { requestState } = (json as { result: { requestState: string } }).result;
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
    const again = { ...sign, requestState, inputResponses };
    const foreign = await modernRpc(url, 'tools/call', again, { capabilities, headers: keys.bob });
    expect(foreign.json).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_request_state' } },
    });
    const own = await modernRpc(url, 'tools/call', again, { capabilities, headers: keys.alice });
    expect(own.json).toMatchObject({ result: { structuredContent: { result: 'signed by Ada' } } });
  });
});

describe('Whoever comes too often', () => {
  const limited = async (requests: number): Promise<string> => {
    const clock = new FakeClock();
    return (await serve(await team(), { rules: [slidingWindow({ requests, windowMs: 60_000 }, { clock })] }))
      .url;
  };

  it('is told so as an error of the protocol, and when to come again', async () => {
    const url = await limited(2);
    for (let at = 0; at < 2; at += 1)
      expect((await modernRpc(url, 'tools/call', sum)).json).toMatchObject({ result: {} });
    const { status, headers, json } = await modernRpc(url, 'tools/call', sum);
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('60');
    // What it said has not been read.
    expect(json).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32083, data: { code: 'RATE_LIMITED', retryAfterMs: 60_000 } },
    });
  });

  it('gains nothing by batches: each call in one counts', async () => {
    const url = await limited(5);
    const session = await begunSession(url, { revision: '2025-03-26' });
    const call = { jsonrpc: '2.0', method: 'tools/call', params: sum };
    const batch = await session.post([1, 2, 3, 4].map((id) => ({ ...call, id })));
    expect(batch.status).toBe(429);
    expect(await batch.json()).toMatchObject({ error: { code: -32083 } });
  });
});

describe('One refusal at two endpoints (C-26)', () => {
  const a2a = async (url: string) => {
    const response = await fetch(`${url}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'none' } }),
    });
    return (await response.json()) as { error: { code: number } };
  };
  const mcp = async (url: string) =>
    (await modernRpc(url, 'tools/list', {})).json as { error: { code: number } };

  it('has the number of each protocol, and none means something else at the other', async () => {
    const closed = await serve(await team(), { authenticators });
    expect((await mcp(closed.url)).error.code).toBe(-32081);
    expect((await a2a(closed.url)).error.code).toBe(-32050);
    const rules = [slidingWindow({ requests: 1, windowMs: 60_000 }, { clock: new FakeClock() })];
    const busy = await serve(await team(), { rules });
    await mcp(busy.url);
    expect((await mcp(busy.url)).error.code).toBe(-32083);
    expect((await a2a(busy.url)).error.code).toBe(-32052);
  });
});
