import { request } from 'node:http';
import { startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { apiKeys, newApiKey } from '../../gateway/admit/api-keys.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { bear } from '../fixtures/agents/frail.ts';
import { modernMeta } from '../fixtures/mcp/raw-mcp.ts';
import { heardFor, say } from '../fixtures/agents/phoning.ts';
import { agent, until } from '../fixtures/until.ts';

type How = 'throws' | 'loops' | 'exits' | 'answers';
type Way = 'a2a' | 'mcp';

/** Who calls: with a key, or from an address of this machine without one. */
interface Caller {
  readonly key?: string;
  readonly from?: string;
}

const eve = newApiKey({ kind: 'service', tenant: 'acme' });
const unwanted = newApiKey({ kind: 'service', tenant: 'unwanted' });
let system: Team;
let url: string;

beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('frail', { instances: ['frail', 'frail-too'] }),
      agent('frail', { instances: ['frail-p'], isolation: 'process' }),
      agent('proxy'),
      agent('phone'),
      agent('listener'),
    ],
    // None shares its thread with another one that ends it.
    workers: 5,
    supervision: { backOff: { firstMs: 1, maxMs: 1 }, refusal: { firstMs: 600_000, maxMs: 600_000 } },
  });
  const authenticators = [apiKeys([eve.record, unwanted.record], { clock: systemClock })];
  ({ url } = await system.serve({ authenticators, anonymous: true, mcp: {} }));
});
afterAll(() => system.stop());

/** What is answered, as text. */
function post(
  path: string,
  body: object,
  headers: Record<string, string>,
  { key, from }: Caller,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request(`${url}${path}`, {
    method: 'POST',
    ...(from === undefined ? {} : { localAddress: from }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...headers,
    },
  });
  asked.on('error', reject);
  asked.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    response.on('error', reject);
  });
  asked.end(JSON.stringify(body));
  return promise;
}

let calls = 0;

/** Has PHONE say something over a channel to LISTENER, over A2A. */
function phone(input: z.input<typeof say.input>, caller: Caller): Promise<string> {
  calls += 1;
  const parts = [{ data: { tool: say.id, arguments: input } }];
  const message = { messageId: `m${calls}`, role: 'ROLE_USER', parts };
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  return post('/phone/rpc', body, { 'a2a-version': '1.0' }, caller);
}

/** Has an agent do something, over A2A or MCP. */
function call(way: Way, agentId: string, how: How, caller: Caller): Promise<string> {
  calls += 1;
  const capability = agentId === 'proxy' ? 'proxy.pass' : 'frail.bear';
  if (way === 'a2a') {
    const parts = [{ data: { tool: capability, arguments: { how } } }];
    const message = { messageId: `m${calls}`, role: 'ROLE_USER', parts };
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
    return post(`/${agentId}/rpc`, body, { 'a2a-version': '1.0' }, caller);
  }
  const name = `${agentId}.${capability}`;
  const params = { name, arguments: { how }, _meta: modernMeta() };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  return post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers, caller);
}

const rowOf = async (id: string) => (await system.roster()).find((row) => row.id === id);

describe('Somebody outside who has an agent fail again and again (F-04)', () => {
  it.each(['a2a', 'mcp'] as const)(
    'is refused by it, and everybody else is answered: ten throws over %s',
    async (way) => {
      const agentId = way === 'a2a' ? 'frail' : 'frail-too';
      const answers: string[] = [];
      for (let n = 0; n < 10; n++) answers.push(await call(way, agentId, 'throws', { from: '127.0.0.1' }));
      for (const answer of answers.slice(0, 4)) expect(answer).toContain('HANDLER_FAILED');
      for (const answer of answers.slice(4)) {
        expect(answer).toContain('RATE_LIMITED');
        expect(answer).toMatch(/retryAfterMs\\*":\d+/);
      }
      expect(await call(way, agentId, 'answers', { from: '127.0.0.1' })).toContain('RATE_LIMITED');
      expect(await call(way, agentId, 'answers', { from: '127.0.0.2' })).toContain('answered');
      expect(await call(way, agentId, 'answers', { key: eve.key })).toContain('answered');
      expect(await system.ask({ agent: agentId, capability: bear }, { how: 'answers' })).toBe('answered');
      expect(await rowOf(agentId)).toMatchObject({ status: 'running', restarts: 4 });
      const events = await system.recentEvents(1_000);
      expect(events.find((one) => one.type === 'outsider-refused' && one.agentId === agentId)).toMatchObject({
        errorCode: 'RATE_LIMITED',
        reason: expect.stringContaining('anonymous at 127.0.0.1'),
      });
    },
  );

  it.each([
    ['thread', 'frail', 'exits'],
    ['thread', 'frail-too', 'loops'],
    ['process', 'frail-p', 'exits'],
  ] as const)(
    'also by the death of its %s, through another agent or without: %s %s',
    async (_, agentId, how) => {
      const caller = { from: agentId === 'frail' ? '127.0.0.4' : '127.0.0.5' };
      // Only FRAIL can be had through the proxy, which neither dies nor is charged with it.
      const through = agentId === 'frail' ? 'proxy' : agentId;
      const answers: string[] = [];
      for (let n = 0; n < 5; n++) answers.push(await call('a2a', through, how, caller));
      for (const answer of answers.slice(0, 4)) expect(answer).toContain('ACTOR_DIED');
      expect(answers[4]).toContain('RATE_LIMITED');
      expect(await call('a2a', through, 'answers', { from: '127.0.0.2' })).toContain('answered');
      expect(await system.ask({ agent: agentId, capability: bear }, { how: 'answers' })).toBe('answered');
      expect((await rowOf('proxy'))?.restarts).toBe(0);
    },
    120_000,
  );

  it.each(['fails', 'exits'] as const)(
    'also by what another agent says for them over a channel that all share, which goes on: %s',
    async (how) => {
      const caller = { from: how === 'fails' ? '127.0.0.7' : '127.0.0.8' };
      const others = { from: '127.0.0.2' };
      const before = (await rowOf('listener'))?.restarts ?? 0;
      const hasDied = (times: number) => async () =>
        ((await rowOf('listener'))?.restarts ?? 0) >= before + times;
      for (let n = 1; n <= 4; n++) {
        // What it died over has come, and is not said again.
        expect(await phone({ how }, caller)).toContain(how === 'fails' ? 'DELIVERY_FAILED' : 'said');
        await until(`LISTENER has died ${n} times`, hasDied(n));
      }
      expect(await phone({ how: 'answers' }, caller)).toContain('RATE_LIMITED');
      expect(await phone({ how: 'answers' }, others)).toContain('said');
      expect(await phone({ how: 'answers' }, { key: eve.key })).toContain('said');
      expect(await rowOf('listener')).toMatchObject({ status: 'running', restarts: before + 4 });
      expect((await rowOf('phone'))?.restarts).toBe(0);
    },
    120_000,
  );

  it('also by having a channel opened that its other end dies over', async () => {
    for (let n = 0; n < 4; n++)
      expect(await phone({ how: 'answers', line: 'own' }, unwanted)).toMatch(/HANDLER_FAILED|ACTOR_DIED/);
    expect(await phone({ how: 'answers', line: 'own' }, unwanted)).toContain('RATE_LIMITED');
    expect(await phone({ how: 'answers', line: 'own' }, { from: '127.0.0.2' })).toContain('said');
  });

  it('and no agent says over a channel for whom it works (A-04)', async () => {
    const heard = () => system.ask({ agent: 'listener', capability: heardFor }, undefined);
    expect(await phone({ how: 'answers', tenant: 'globex' }, { key: eve.key })).toContain('said');
    expect(await heard()).toBe('acme');
    expect(await phone({ how: 'answers', tenant: 'globex' }, { from: '127.0.0.2' })).toContain('said');
    expect(await heard()).toBe('nobody');
  });
});
