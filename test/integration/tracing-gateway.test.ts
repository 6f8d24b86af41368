import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSystem, type Team } from 'orrery';
import { mcpServer } from 'orrery/mcp';
import { remoteAgent } from 'orrery/remote';
import { toolsOf } from 'orrery/tools';
import { relay } from '../fixtures/agents/traced.ts';
import { spansIn, tracingInto, wayUp, type WrittenSpan } from '../fixtures/spans.ts';
import { agent, until } from '../fixtures/until.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const REVISION = '2026-07-28';

describe('The trace of a request from outside (DESIGN 2.1, 8)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-tracing-'));
  const file = join(folder, 'spans');
  const tracing = tracingInto(file);
  let there: Team;
  let url: string;

  beforeAll(async () => {
    const agents = [agent('traced-relay'), agent('traced-last')];
    there = await startSystem({ agents, spareThread: false, tracing });
    ({ url } = await there.serve({ entry: 'relay', a2a: { delegation: { node: 'b' } } }));
  });
  afterAll(async () => {
    await there.stop({ drainMs: 0 });
    rmSync(folder, { recursive: true });
  });

  /** The spans since `before`, once one of this name is among them. */
  const since = (before: number, ...names: readonly string[]): Promise<readonly WrittenSpan[]> =>
    until(`spans of ${names.join()}`, () => {
      const found = spansIn(file).slice(before);
      return names.every((name) => found.some((span) => span.name === name)) && found;
    });
  const wayOf = (spans: readonly WrittenSpan[], name: string): string =>
    wayUp(spans, spans.find((span) => span.name === name) as WrittenSpan);

  it('goes on over A2A: from the header of the caller to the last agent', async () => {
    const before = spansIn(file).length;
    const answer = await fetch(`${url}/relay/rpc`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'a2a-version': '1.0',
        traceparent: TRACEPARENT,
        tracestate: 'shop=t61',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'go' }] } },
      }),
    });
    expect(answer.status).toBe(200);
    const inside = [
      'ask trace.relay',
      'handle trace.relay',
      'own work',
      'ask trace.last',
      'handle trace.last',
    ];
    // Each thread writes its own, when it comes to it: what is not waited for here is found by the next test.
    const spans = await since(before, ...inside, 'POST /:agentId/rpc');
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(wayOf(spans, 'handle trace.last')).toBe(
      'handle trace.last < ask trace.last < own work < handle trace.relay < ask trace.relay < POST /:agentId/rpc < ?',
    );
    const server = spans.find(({ name }) => name === 'POST /:agentId/rpc');
    expect(server).toMatchObject({ parent: 'b7ad6b7169203331', state: 'shop=t61', kind: 1 });
    expect(server?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
    });
  });

  it('is a new one where the header is none', async () => {
    const before = spansIn(file).length;
    await fetch(`${url}/.well-known/agent-card.json`, { headers: { traceparent: `${TRACEPARENT}-more` } });
    await fetch(`${url}/healthz`);
    const [span, ...others] = await since(before, 'GET /.well-known/agent-card.json');
    expect(span?.traceId).not.toBe(TRACE);
    expect(span?.parent).toBeUndefined();
    expect(others).toEqual([]);
  });

  it('goes on over MCP: from _meta of the call, whichever way it is answered', async () => {
    for (const plain of [true, false]) {
      const before = spansIn(file).length;
      const answer = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': 'tools/call',
          'mcp-name': 'relay.trace.relay',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'relay.trace.relay',
            arguments: { input: 'go' },
            _meta: {
              'io.modelcontextprotocol/protocolVersion': REVISION,
              'io.modelcontextprotocol/clientCapabilities': {},
              ...(plain ? {} : { progressToken: 1 }),
              traceparent: TRACEPARENT,
            },
          },
        }),
      });
      expect(await answer.text()).not.toContain('"error"');
      const spans = await since(before, 'handle trace.last', 'tools/call relay.trace.relay');
      expect(wayOf(spans, 'handle trace.relay')).toBe(
        'handle trace.relay < ask trace.relay < tools/call relay.trace.relay < ?',
      );
      expect(spans.find(({ name }) => name === 'handle trace.last')?.traceId).toBe(TRACE);
    }
  });

  it('goes out over A2A and MCP, and on in the other system', async () => {
    const remote = await remoteAgent(`${url}/relay`, { self: 'a', grantedTier: 2 });
    const mounted = mcpServer({ id: 'mounted', url: `${url}/mcp` });
    await using here = await startSystem({ agents: [remote, mounted], tracing });

    const asked = spansIn(file).length;
    await here.ask({ agent: 'b/relay', capability: relay }, 'go');
    const overA2A = await since(asked, 'handle trace.last', 'POST /:agentId/rpc');
    const roots = overA2A.filter(({ parent }) => parent === undefined);
    expect(roots.map(({ name }) => name)).toEqual(['ask trace.relay']);
    expect(wayOf(overA2A, 'POST /:agentId/rpc')).toBe(
      'POST /:agentId/rpc < POST < handle trace.relay < ask trace.relay',
    );

    const called = spansIn(file).length;
    const [tool] = toolsOf(here)
      .tools()
      .filter(({ name }) => name.startsWith('mounted') && name.includes('relay'));
    await toolsOf(here).call(String(tool?.name), { input: 'go' });
    const overMcp = await since(called, 'handle trace.last');
    const overBoth = 'tools/call relay.trace.relay < tools/call relay.trace.relay';
    expect(wayOf(overMcp, 'handle trace.relay')).toBe(
      `handle trace.relay < ask trace.relay < ${overBoth} < handle relay.trace.relay < ask relay.trace.relay`,
    );
  });
});
