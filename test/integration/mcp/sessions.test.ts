import { afterEach, describe, expect, it } from 'vitest';
import { type McpOptions, serve } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from '../../../gateway/admit/api-keys.ts';
import type { Authenticator } from '../../../runtime/protocol/admission.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { modernFetch, modernRpc, rawPost } from '../../fixtures/mcp/raw-mcp.ts';
import { begunSession, beginSession, messages, RawSession } from '../../fixtures/mcp/raw-session.ts';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';

const opened: Team[] = [];
const leaving = new AbortController();
async function team(): Promise<Team> {
  const system = await startSystem({ agents: agentsOfMcp().agents, workers: 1, spareThread: false });
  opened.push(system);
  return system;
}
const served = async (mcp: McpOptions = {}): Promise<string> => (await (await team()).serve({ mcp })).url;

/** To who shows one of the keys that there are at the moment. */
async function servedWithKeys(
  records: () => Parameters<typeof apiKeys>[0],
  mcp?: McpOptions,
): Promise<string> {
  const authenticate: Authenticator['authenticate'] = (request) =>
    apiKeys(records(), { clock: systemClock }).authenticate(request);
  const authenticators = [{ scheme: 'ApiKey', authenticate }];
  return (await serve(await team(), { authenticators, ...(mcp && { mcp }) })).url;
}
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

describe('Sessions of older revisions (N-D11)', () => {
  it('are as many as there may be: the one that was silent for longest makes room', async () => {
    const url = await served({ maxSessions: 2 });
    const [first, second] = [await begunSession(url), await begunSession(url)];
    await first.rpc('ping');
    const third = await begunSession(url);
    expect((await second.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
    for (const session of [first, third]) expect((await session.rpc('ping')).result).toEqual({});
  });

  it('are refused when all of them listen, until one is left', async () => {
    const url = await served({ maxSessions: 2 });
    const [first, second] = [await begunSession(url), await begunSession(url)];
    await Promise.all([first.listen(leaving.signal), second.listen(leaving.signal)]);
    const refused = await beginSession(url);
    if (refused instanceof RawSession) throw new Error('It was let in');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({ error: { code: -32083, data: { code: 'RATE_LIMITED' } } });
    const left = await fetch(`${url}/mcp`, { method: 'DELETE', headers: { 'mcp-session-id': first.id } });
    expect(left.status).toBe(200);
    expect((await (await begunSession(url)).rpc('ping')).result).toEqual({});
  });

  it('are as many of one caller as it may have: its own make room, or it has to wait, and others come in', async () => {
    const [greedy, modest] = [newApiKey({ kind: 'user' }), newApiKey({ kind: 'user' })];
    let records = [greedy.record, modest.record];
    const url = await servedWithKeys(() => records, { maxSessions: 3, maxSessionsPerCaller: 2 });
    const asked = { headers: { 'x-api-key': greedy.key } };
    const other = await begunSession(url, { headers: { 'x-api-key': modest.key } });
    const [silent, second] = [await begunSession(url, asked), await begunSession(url, asked)];
    // That of the other one has been silent for longer.
    const third = await begunSession(url, asked);
    expect((await silent.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
    expect((await other.rpc('ping')).result).toEqual({});
    await Promise.all([second.listen(leaving.signal), third.listen(leaving.signal)]);
    // With other roles it is the same one.
    records = [{ ...greedy.record, roles: ['writer'] }, modest.record];
    const refused = await beginSession(url, asked);
    if (refused instanceof RawSession) throw new Error('It was let in');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      error: {
        code: -32084,
        message: 'No more than 2 sessions of one caller; end one, or try again later',
        data: { code: 'QUOTA_EXCEEDED', retryAfterMs: 5_000 },
      },
    });
    expect((await other.rpc('ping')).result).toEqual({});
  });

  const call = {
    jsonrpc: '2.0',
    method: 'tools/call',
    params: { name: 'clerk.add', arguments: { a: 1, b: 1 } },
  };

  it('take batches in 2025-03-26, which has them, and not too long ones', async () => {
    const url = await served();
    const session = await begunSession(url, { revision: '2025-03-26' });
    const answers: unknown[] = [];
    for await (const { id, result } of messages(await session.post([1, 2].map((id) => ({ ...call, id })))))
      answers.push([id, result?.['structuredContent']]);
    expect(answers.sort()).toEqual([
      [1, { sum: 2 }],
      [2, { sum: 2 }],
    ]);
    const long = await session.post(Array.from({ length: 51 }, (_, id) => ({ ...call, id })));
    expect(long.status).toBe(400);
    expect(await long.json()).toMatchObject({ error: { code: -32600 } });
  });

  it('take none where there are none', async () => {
    const url = await served();
    const batch = await (await begunSession(url)).post([{ ...call, id: 1 }]);
    expect(batch.status).toBe(400);
    expect(await batch.json()).toMatchObject({ error: { code: -32600 } });
    const plain = await rawPost(url, JSON.stringify([{ ...call, id: 1 }]), {
      'mcp-protocol-version': '2026-07-28',
    });
    expect(plain.status).toBe(400);
    expect(JSON.parse(plain.text)).toMatchObject({ error: { code: expect.any(Number) as number } });
    expect(plain.text).not.toContain('"sum"');
  });

  it('are not found by others, nor by one whose roles are others by now', async () => {
    const wide = newApiKey({ kind: 'user', roles: ['writer'] });
    const other = newApiKey({ kind: 'user', roles: ['writer'] });
    let records = [wide.record, other.record];
    const url = await servedWithKeys(() => records);
    const session = await begunSession(url, { headers: { 'x-api-key': wide.key } });
    expect((await session.rpc('ping')).result).toEqual({});
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await session.post(ping, { 'x-api-key': other.key })).status).toBe(404);
    records = [{ ...wide.record, roles: [] }];
    expect((await session.post(ping)).status).toBe(404);
  });
});

describe('A resource that changes (N-6.1, N-D11)', () => {
  it('is told to sessions that have subscribed to it, and not to others', async () => {
    const url = await served();
    const [listener, other] = [await begunSession(url), await begunSession(url)];
    const stream = messages(await listener.listen(leaving.signal));
    const otherStream = messages(await other.listen(leaving.signal));
    expect((await listener.rpc('resources/subscribe', { uri: 'notes://today' })).result).toEqual({});
    await other.rpc('tools/call', { name: 'clerk.jot', arguments: {} });
    expect((await stream.next()).value).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'notes://today' },
    });
    // The next that the other one hears is that of its own subscription.
    await listener.rpc('resources/unsubscribe', { uri: 'notes://today' });
    await other.rpc('resources/subscribe', { uri: 'notes://today' });
    await other.rpc('tools/call', { name: 'clerk.jot', arguments: {} });
    expect((await otherStream.next()).value).toMatchObject({ method: 'notifications/resources/updated' });
  });

  it('is told on a stream of 2026-07-28 that asks for it', async () => {
    const url = await served();
    const notifications = { resourceSubscriptions: ['notes://today'] };
    const response = await modernFetch(
      url,
      'subscriptions/listen',
      { notifications },
      { id: 'l1', signal: leaving.signal },
    );
    const stream = messages(response);
    expect((await stream.next()).value).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications },
    });
    await modernRpc(url, 'tools/call', { name: 'clerk.jot', arguments: {} });
    expect((await stream.next()).value).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'notes://today' },
    });
  });
});
