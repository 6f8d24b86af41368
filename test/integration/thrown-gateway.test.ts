import { describe, expect, it } from 'vitest';
import { modernMeta, modernRpc, rawPost } from '../fixtures/mcp/raw-mcp.ts';
import { begunSession } from '../fixtures/mcp/raw-session.ts';
import { post, tool } from '../fixtures/xpr-calls.ts';
import type { XprTrial } from '../fixtures/xpr-gateway.ts';
import { xprTrials } from '../fixtures/xpr-trials.ts';

const trials = xprTrials();
/** What the handlers of the agent throw stands in this file. */
const WHERE = 'xpr-gateway.ts';
const DEATHS = 6;

const parts = (id: string) => [{ data: { tool: `echo.${id}`, arguments: 'x' } }];
const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** Every way to have the agent do something, and what is answered, as text. */
const ways = {
  'A2A 1.0': ({ served }: XprTrial, id: string) =>
    said(`${served.url}/mars/rpc`, rpc('SendMessage', { message: message(id) }), { 'a2a-version': '1.0' }),
  'A2A 1.0, streamed': ({ served }: XprTrial, id: string) =>
    said(`${served.url}/mars/rpc`, rpc('SendStreamingMessage', { message: message(id) }), {
      'a2a-version': '1.0',
    }),
  'A2A over REST': ({ served }: XprTrial, id: string) =>
    said(`${served.url}/mars/message:send`, JSON.stringify({ message: message(id) }), {
      'a2a-version': '1.0',
    }),
  'A2A 0.3': ({ served }: XprTrial, id: string) =>
    said(
      `${served.url}/mars/rpc`,
      rpc('message/send', {
        message: {
          kind: 'message',
          role: 'user',
          messageId: crypto.randomUUID(),
          parts: [{ kind: 'data', data: { tool: `echo.${id}`, arguments: 'x' } }],
        },
        configuration: { blocking: true },
      }),
    ),
  XPR: async (trial: XprTrial, id: string) => {
    const { body } = await post(trial, JSON.parse(rpc('message/send', { message: tool(id) })));
    trial.clock.advance(60_000);
    return JSON.stringify(body);
  },
  MCP: async ({ served }: XprTrial, id: string) => {
    const args = { name: `mars.echo.${id}`, arguments: { input: 'x' } };
    const { json } = await modernRpc(served.url, 'tools/call', args);
    return JSON.stringify(json);
  },
  'MCP, in a session': async ({ served }: XprTrial, id: string) => {
    const session = await begunSession(served.url);
    const args = { name: `mars.echo.${id}`, arguments: { input: 'x' } };
    return JSON.stringify(await session.rpc('tools/call', args));
  },
  health: async ({ served }: XprTrial) =>
    (await Promise.all(['/healthz', '/readyz', '/metrics'].map((path) => got(served.url + path)))).join('\n'),
};

const message = (id: string) => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: parts(id) });
const got = async (url: string): Promise<string> => (await fetch(url)).text();

async function said(url: string, body: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return response.text();
}

describe('Where an agent threw (F-06)', () => {
  it.each(Object.keys(ways) as (keyof typeof ways)[])('is told nobody outside: %s', async (way) => {
    const trial = await trials.open({}, { mcp: {} });
    const answers: string[] = [];
    // The last of them are of an agent that its supervisor has given up.
    for (let death = 0; death < DEATHS; death++) {
      answers.push(await ways[way](trial, 'refuse'));
      if (way === 'health') await ways['A2A 1.0'](trial, 'refuse');
    }
    const all = answers.join('\n');
    expect(all).not.toContain(WHERE);
    expect(all).not.toContain('secret');
    expect(all).not.toMatch(/file:\/\/|node_modules|\\n {4}at /);
    // The embedder knows.
    const events = await trial.system.recentEvents();
    expect(events.some(({ type, stack }) => type === 'agent-crashed' && stack?.includes(WHERE))).toBe(true);
  });

  it('is not where a caller sends a number that none can hold: that is the caller’s fault', async () => {
    const trial = await trials.open({}, { mcp: {} });
    const params = `{"name":"mars.echo.say","arguments":{"input":1e999},"_meta":${JSON.stringify(modernMeta())}}`;
    const asked = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`;
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'mars.echo.say',
    };
    const { status, text } = await rawPost(trial.served.url, asked, headers);
    expect([status, JSON.parse(text)]).toMatchObject([400, { id: 7, error: { code: -32_602 } }]);
  });

  it('is told the operator, under the id that the caller has; what an agent declines is told as it is', async () => {
    const trial = await trials.open({}, { mcp: {} });
    for (const way of ['A2A 1.0', 'A2A 0.3', 'MCP'] as const) {
      const answer = (await ways[way](trial, 'refuse')).replaceAll('\\"', '"');
      const events = await trial.system.recentEvents();
      const told = events.filter(({ errorId }) => errorId !== undefined && answer.includes(errorId));
      expect([way, told.length]).toEqual([way, 1]);
      expect(told[0]?.reason).toContain('postgres://admin:secret@db');
      expect(told[0]?.stack).toContain(WHERE);
    }
    for (const way of Object.keys(ways).filter((name) => name !== 'health') as (keyof typeof ways)[])
      expect([way, await ways[way](trial, 'decline')]).toEqual([
        way,
        expect.stringContaining('not on Sundays'),
      ]);
    expect(await ways['A2A 1.0'](trial, 'decline')).toContain('"state":"TASK_STATE_REJECTED"');
    expect(await ways['A2A 1.0'](trial, 'fail')).toContain('"state":"TASK_STATE_FAILED"');
  });
});
