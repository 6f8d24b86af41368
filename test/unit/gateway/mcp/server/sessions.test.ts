import { setImmediate as turn } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { ANONYMOUS, anonymousFrom } from '../../../../../runtime/protocol/principal.ts';
import { Sessions } from '../../../../../gateway/mcp/server/sessions.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const IDLE_MS = 60_000;

function trial(max = 10, maxPerCaller = max) {
  const clock = new FakeClock();
  const sessions = new Sessions({
    clock,
    max,
    maxPerCaller,
    idleMs: IDLE_MS,
    keepAliveMs: 15_000,
    serverFor: () => new Server({ name: 'trial', version: '1.0.0' }, { capabilities: {} }),
  });
  const post = (message: object, session?: string, caller = ANONYMOUS) =>
    sessions.serve(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
      }),
      { jsonrpc: '2.0', ...message },
      caller,
    );
  const begin = async (caller = ANONYMOUS): Promise<string> => {
    const clientInfo = { name: 'trial', version: '1.0.0' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const response = await post({ id: 0, method: 'initialize', params }, undefined, caller);
    await response.text();
    await turn();
    return response.headers.get('mcp-session-id') as string;
  };
  const ping = async (session: string): Promise<number> => {
    const response = await post({ id: 1, method: 'ping' }, session);
    await response.text();
    // The request is over when its last byte has been passed on.
    await turn();
    return response.status;
  };
  const listen = (session: string, leaving: AbortSignal) =>
    sessions.serve(
      new Request('http://localhost/mcp', {
        headers: { accept: 'text/event-stream', 'mcp-session-id': session },
        signal: leaving,
      }),
      undefined,
      ANONYMOUS,
    );
  return { clock, sessions, begin, ping, listen };
}

describe('Sessions of older revisions', () => {
  it('are over after some silence, and 404 afterwards', async () => {
    const { clock, sessions, begin, ping } = trial();
    const [silent, used] = [await begin(), await begin()];
    clock.advance(IDLE_MS - 1);
    expect(await ping(used)).toBe(200);
    clock.advance(IDLE_MS / 2 + 1);
    expect(await ping(silent)).toBe(404);
    expect(await ping(used)).toBe(200);
    expect(sessions.size).toBe(1);
    clock.advance(2 * IDLE_MS);
    expect(await ping(used)).toBe(404);
    // Nobody is there to be looked after.
    expect(clock.pending).toBe(0);
  });

  it('are not over while they listen, and are some time after that', async () => {
    const { clock, begin, ping, listen } = trial();
    const session = await begin();
    const leaving = new AbortController();
    expect((await listen(session, leaving.signal)).status).toBe(200);
    clock.advance(10 * IDLE_MS);
    expect(await ping(session)).toBe(200);
    leaving.abort();
    clock.advance(IDLE_MS - 1);
    expect(await ping(session)).toBe(200);
    clock.advance(2 * IDLE_MS);
    expect(await ping(session)).toBe(404);
  });

  it('are never more than one caller may have, who comes again and again at once', async () => {
    const { sessions, begin } = trial(10, 2);
    const ids = await Promise.all(
      [begin(), begin(), begin(), begin(), begin()].map((one) => one.catch(() => 'refused')),
    );
    expect(sessions.size).toBe(2);
    expect(ids.filter((id) => id !== 'refused').length).toBeGreaterThanOrEqual(2);
  });

  it('of one address without credentials make room for themselves alone, also where there is none left', async () => {
    const [theirs, mine] = [anonymousFrom('192.0.2.1'), anonymousFrom('192.0.2.2')];
    const { begin, ping, sessions } = trial(5, 4);
    const own = await begin(mine);
    for (let count = 0; count < 12; count += 1) await begin(theirs);
    expect(sessions.size).toBe(5);
    expect(await ping(own)).toBe(200);
    // Somebody new has a place of whoever has most.
    await begin(anonymousFrom('192.0.2.3'));
    expect(sessions.size).toBe(5);
    expect(await ping(own)).toBe(200);
  });

  it('are never more than there may be', async () => {
    const { sessions, begin } = trial(3);
    for (let count = 0; count < 10; count += 1) {
      await begin();
      expect(sessions.size).toBe(Math.min(count + 1, 3));
    }
    await sessions.close();
    expect(sessions.size).toBe(0);
  });
});
