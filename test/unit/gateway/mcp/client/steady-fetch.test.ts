import { describe, expect, it } from 'vitest';
import { steadyFetch } from '../../../../../gateway/mcp/client/steady-fetch.ts';

/** Fails as often as it is told, then answers; counts what it is asked. */
function failing(times: number, code: string) {
  let asked = 0;
  const fetch = steadyFetch(async () => {
    asked += 1;
    if (asked <= times) throw new TypeError('fetch failed', { cause: { code } });
    return new Response('ok');
  });
  return { fetch, asked: () => asked };
}

const posted = (method: string, more: object = {}) => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
  ...more,
});

describe('requests over connections that break', () => {
  it.each([
    ['GET', undefined],
    ['a list', posted('tools/list')],
    ['a handshake', posted('initialize')],
  ])('are sent again, once, when they change nothing: %s', async (_what, init) => {
    const once = failing(1, 'ECONNRESET');
    expect(await (await once.fetch('http://localhost', init)).text()).toBe('ok');
    const twice = failing(2, 'ECONNRESET');
    await expect(twice.fetch('http://localhost', init)).rejects.toThrow('fetch failed');
    expect([once.asked(), twice.asked()]).toEqual([2, 2]);
  });

  it.each([
    ['a call of a tool (N-V03)', 'ECONNRESET', posted('tools/call')],
    ['one for a token', 'ECONNRESET', { method: 'POST', body: 'grant_type=code' }],
    ['one that nobody waits for', 'ECONNRESET', posted('tools/list', { signal: AbortSignal.abort() })],
    ['one to where nobody is', 'ECONNREFUSED', posted('tools/list')],
  ])('are not sent again: %s', async (_what, code, init) => {
    const { fetch, asked } = failing(1, code);
    await expect(fetch('http://localhost', init)).rejects.toThrow('fetch failed');
    expect(asked()).toBe(1);
  });
});
