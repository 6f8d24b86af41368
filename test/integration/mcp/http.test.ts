import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from '../../../gateway/admit/api-keys.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { capability, defineAgent } from 'orrery';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';
import { modernRpc, rawPost } from '../../fixtures/mcp/raw-mcp.ts';
import { until } from '../../fixtures/until.ts';

const opened: Team[] = [];
const clients: Client[] = [];
async function team(agents = agentsOfMcp().agents): Promise<Team> {
  const system = await startSystem({ agents, workers: 1, spareThread: false });
  opened.push(system);
  return system;
}
async function connected(url: string, era: 'auto' | 'legacy', headers: Record<string, string> = {}) {
  const client = new Client(
    { name: 'trial', version: '1.0.0' },
    era === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  clients.push(client);
  return client;
}
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close().catch(() => undefined);
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

const REVISIONS = { auto: '2026-07-28', legacy: '2025-11-25' } as const;

describe.each(['auto', 'legacy'] as const)(
  'The published client, %s (N-5.2, N-5.3, N-5.4, N-6.2, N-6.3, N-6.5, N-D11)',
  (era) => {
    it('lists, calls, reads, renders and completes what agents offer', async () => {
      const { url } = await (await team()).serve();
      const client = await connected(url, era);
      expect(client.getNegotiatedProtocolVersion()).toBe(REVISIONS[era]);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('clerk.add');
      expect(tools.find(({ name }) => name === 'clerk.add')).toMatchObject({
        description: 'Adds two numbers',
        inputSchema: { type: 'object', required: ['a', 'b'] },
        outputSchema: { type: 'object', required: ['sum'] },
        annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
        _meta: { 'io.orrery/agentId': 'clerk' },
      });
      expect(await client.callTool({ name: 'clerk.add', arguments: { a: 1, b: 2 } })).toMatchObject({
        structuredContent: { sum: 3 },
        content: [{ type: 'text', text: '{"sum":3}' }],
      });
      // Names without dots are understood as well (C-28).
      expect(await client.callTool({ name: 'clerk__add', arguments: { a: 2, b: 2 } })).toMatchObject({
        structuredContent: { sum: 4 },
      });
      const { resources } = await client.listResources();
      expect(resources).toMatchObject([{ uri: 'notes://today', name: 'Today', mimeType: 'text/plain' }]);
      expect(await client.readResource({ uri: 'notes://today' })).toMatchObject({
        contents: [{ uri: 'notes://today', mimeType: 'text/plain', text: 'Nothing yet' }],
      });
      expect(await client.getPrompt({ name: 'clerk.greet', arguments: { who: 'you' } })).toMatchObject({
        messages: [{ role: 'user', content: { type: 'text', text: 'Greet you' } }],
      });
      const completion = {
        ref: { type: 'ref/prompt', name: 'clerk.greet' },
        argument: { name: 'who', value: 'a' },
      };
      expect(await client.complete(completion as never)).toMatchObject({
        completion: { values: ['alice', 'ann'] },
      });
    });

    it('is told what went wrong with a tool, and by which agent, as a result (unit case 5.4)', async () => {
      const { url } = await (await team()).serve();
      const client = await connected(url, era);
      const refused = await client.callTool({ name: 'clerk.refuse', arguments: {} });
      expect(refused).toMatchObject({ isError: true });
      expect(JSON.parse((refused.content as { text: string }[])[0]?.text ?? '')).toMatchObject({
        code: 'REFUSED',
        message: expect.stringContaining('not today'),
        agentId: 'clerk',
      });
      const invalid = await client.callTool({ name: 'clerk.add', arguments: { a: 'one', b: 2 } });
      expect(invalid).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('INVALID_PAYLOAD') }],
      });
      await expect(client.callTool({ name: 'clerk.nothing', arguments: {} })).rejects.toMatchObject({
        code: -32602,
      });
      await expect(client.readResource({ uri: 'notes://none' })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('notes://none'),
      });
    });

    it('hears how far the work is, and ends it when it does not want it any more', async () => {
      const { agents, aborted } = agentsOfMcp();
      const { url } = await (await team(agents)).serve();
      const client = await connected(url, era);
      const leaving = new AbortController();
      const heard: number[] = [];
      const call = client.callTool(
        { name: 'clerk.dawdle', arguments: {} },
        {
          signal: leaving.signal,
          onprogress: ({ progress }) => {
            heard.push(progress);
            leaving.abort();
          },
        },
      );
      await expect(call).rejects.toThrow();
      expect(heard).toEqual([0.25]);
      await until('the agent sees it', () => aborted.count === 1);
    });

    it('hears that there are other tools', async () => {
      const system = await team();
      const { url } = await system.serve({ mcp: { searchAbove: 10_000, pageSize: 10_000 } });
      const told = Promise.withResolvers<void>();
      const client = new Client(
        { name: 'trial', version: '1.0.0' },
        {
          ...(era === 'auto' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
          listChanged: { tools: { onChanged: () => told.resolve() } },
        },
      );
      clients.push(client);
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      const once = capability({ id: 'once', description: 'New', input: z.object({}), output: z.string() });
      let added = 0;
      // The stream of changes is opened after connect has returned.
      const adding = async (): Promise<void> => {
        for (; added < 200; added += 1) {
          const id = `late-${added}`;
          await system.start([
            defineAgent({ id, name: id, version: '1.0.0', description: 'Late', tier: 3 }).handle(
              once,
              () => 'x',
            ),
          ]);
          if (await Promise.race([told.promise.then(() => true), Promise.resolve(false)])) return;
        }
      };
      await Promise.all([told.promise, adding()]);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('late-0.once');
    });
  },
);

/** Each takes one call at a time: the others wait in its mailbox. */
const WAITERS = 10;

describe('A crowd', () => {
  it('lists two tools instead of a thousand, finds and calls each of them, also under its own name', async () => {
    const { url } = await (await team(agentsOfMcp({ tools: 1_000 }).agents)).serve();
    const client = await connected(url, 'auto');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'number 777' } });
    const { tools: hits } = found.structuredContent as { tools: { name: string; inputSchema: object }[] };
    expect(hits[0]).toMatchObject({ name: 'crowd.tool-777', inputSchema: { type: 'object' } });
    expect(
      await client.callTool({
        name: 'call_tool',
        arguments: { name: 'crowd.tool-777', arguments: { n: 1 } },
      }),
    ).toMatchObject({ structuredContent: { result: 778 } });
    expect(await client.callTool({ name: 'crowd.tool-5', arguments: { n: 1 } })).toMatchObject({
      structuredContent: { result: 6 },
    });
  });

  it('shows all thousand where they are wanted, page by page', async () => {
    const { agents } = agentsOfMcp({ tools: 1_000 });
    const { url } = await (await team(agents)).serve({ mcp: { searchAbove: 10_000, names: 'portable' } });
    const names = new Set<string>();
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { json } = await modernRpc(url, 'tools/list', cursor === undefined ? {} : { cursor });
      const { result } = json as { result: { tools: { name: string }[]; nextCursor?: string } };
      for (const { name } of result.tools) names.add(name);
      cursor = result.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBe(Math.ceil(names.size / 100));
    expect(names).toContain('crowd__tool-999');
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    for (const wrong of ['p7', 'p100', '']) {
      const { json } = await modernRpc(url, 'tools/list', { cursor: wrong });
      expect(json).toMatchObject({ error: { code: -32602, data: { cursor: wrong } } });
    }
  });

  it('is told page by page as it was, without gap or repeat, while others come and go', async () => {
    const once = capability({ id: 'once', description: 'New', input: z.object({}), output: z.string() });
    const agentOf = (id: string) =>
      defineAgent({ id, name: id, version: '1.0.0', description: 'One', tier: 3 }).handle(once, () => 'x');
    const system = await team(['b', 'd', 'f', 'h'].map((id) => agentOf(id)) as never);
    const { url } = await system.serve({ mcp: { pageSize: 2 } });
    const page = async (cursor?: string) => {
      const { json } = await modernRpc(url, 'tools/list', cursor === undefined ? {} : { cursor });
      const { result } = json as { result: { tools: { name: string }[]; nextCursor?: string } };
      return { names: result.tools.map(({ name }) => name), next: result.nextCursor };
    };
    const first = await page();
    expect(first.names).toEqual(['b.once', 'd.once']);
    await system.start([agentOf('a'), agentOf('e')]);
    await system.stopAgent('d');
    const second = await page(first.next);
    expect(second.names).toEqual(['e.once', 'f.once']);
    const third = await page(second.next);
    expect(third).toEqual({ names: ['h.once'], next: undefined });
  });

  it('is answered, or sees its work ended: a thousand calls, half of them cancelled', async () => {
    const { agents, aborted, begun } = agentsOfMcp({ waiting: WAITERS });
    const serving = await (await team(agents)).serve();
    const quick = Array.from({ length: 500 }, (_, a) =>
      modernRpc(serving.url, 'tools/call', { name: 'clerk.add', arguments: { a, b: 1 } }),
    );
    const leaving = new AbortController();
    const slow = Array.from({ length: 500 }, (_, at) =>
      modernRpc(
        serving.url,
        'tools/call',
        { name: `waiter-${at % WAITERS}.wait`, arguments: {} },
        { signal: leaving.signal },
      ).then(
        () => 'answered',
        () => 'cut',
      ),
    );
    const answers = await Promise.all(quick);
    expect(
      answers.map(
        ({ json }) =>
          (json as { result: { structuredContent: { sum: number } } }).result.structuredContent.sum,
      ),
    ).toEqual(Array.from({ length: 500 }, (_, a) => a + 1));
    await until('all have come', () => serving.inHand() === 500 && begun.count === WAITERS);
    leaving.abort();
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['cut']));
    await until('the agents have seen it', () => aborted.count === begun.count);
    await until('nothing is left open', () => serving.inHand() === 0);
  });
});

describe('Whoever may not', () => {
  const { key, record } = newApiKey({ kind: 'user', roles: ['reader'] });
  const authenticators = [apiKeys([record], { clock: systemClock })];

  it('is refused as a page of elsewhere, or under a name that is not served', async () => {
    const { url } = await (await team()).serve();
    const evil = await rawPost(url, '{}', { origin: 'https://evil.example' });
    expect(evil.status).toBe(403);
    const named = await rawPost(url, '{}', { host: 'evil.example' });
    expect(named.status).toBe(421);
  });

  it('is told how to prove who they are, and which scope is lacking', async () => {
    const system = await team();
    const { url } = await serve(system, {
      authenticators,
      mcp: {
        authorizationServers: ['https://login.example'],
        scopes: {
          use: ['reader'],
          of: ({ annotations }) => (annotations.readOnly === true ? [] : ['writer']),
        },
      },
    });
    const nobody = await modernRpc(url, 'tools/list', {});
    expect(nobody.status).toBe(401);
    const metadata = `${url}/.well-known/oauth-protected-resource/mcp`;
    expect(nobody.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`);
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: `${url}/mcp`,
      authorization_servers: ['https://login.example'],
      scopes_supported: ['reader'],
    });
    const headers = { 'x-api-key': key };
    const read = await modernRpc(
      url,
      'tools/call',
      { name: 'clerk.add', arguments: { a: 1, b: 1 } },
      { headers },
    );
    expect(read.json).toMatchObject({ result: { structuredContent: { sum: 2 } } });
    const write = await modernRpc(url, 'tools/call', { name: 'clerk.refuse', arguments: {} }, { headers });
    expect(write.status).toBe(403);
    expect(write.headers.get('www-authenticate')).toMatch(/insufficient_scope.*scope="writer"/);
  });

  it('sees and calls only what is theirs to see', async () => {
    const { url } = await (await team()).serve({
      mcp: { readOnly: true, visible: (_, { name }) => name !== 'notes://today' },
    });
    const { json } = await modernRpc(url, 'tools/list', {});
    const { result } = json as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toEqual(['clerk.add']);
    const hidden = await modernRpc(url, 'tools/call', { name: 'clerk.refuse', arguments: {} });
    expect(hidden.json).toMatchObject({ error: { code: -32602 } });
    const unseen = await modernRpc(url, 'resources/read', { uri: 'notes://today' });
    expect(unseen.json).toMatchObject({ error: { code: -32602, data: { uri: 'notes://today' } } });
  });
});

describe('What is no call', () => {
  it.each([
    { what: 'broken JSON', body: '{"jsonrpc"', status: 400, code: -32700 },
    {
      what: 'what is nested too deeply',
      body: `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
      status: 400,
      code: -32600,
    },
    {
      what: 'more than is taken',
      body: JSON.stringify({ fill: 'x'.repeat(70_000) }),
      status: 413,
      code: -32085,
    },
  ])('answers $what with its code', async ({ body, status, code }) => {
    const { url } = await (await team()).serve({ limits: { maxBodyBytes: 65_536 } });
    const answer = await rawPost(url, body);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it('answers a revision that nobody knows with those that are spoken', async () => {
    const { url } = await (await team()).serve();
    const { status, json } = await modernRpc(url, 'tools/list', {}, { revision: '2031-01-01' });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { data: { supported: ['2026-07-28'] } } });
  });

  it('answers a session that it does not know by 404: after a restart clients begin anew', async () => {
    const first = await (await team()).serve();
    const { port } = first;
    const client = await connected(first.url, 'legacy');
    await client.listTools();
    const sessionId = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
    expect(sessionId).not.toBe('');
    await first.close();
    const second = await (await team()).serve({ port });
    const stale = await rawPost(second.url, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }), {
      'mcp-session-id': sessionId,
    });
    expect(stale.status).toBe(404);
    const again = await connected(second.url, 'legacy');
    expect((await again.listTools()).tools.length).toBeGreaterThan(0);
  });
});
