import { describe, expect, it } from 'vitest';
import { capability, defineAgent, startSystem } from 'orrery';
import { z } from 'zod';

const KEYS = 10_000;

/** Counts the turns of this thread's event loop. */
function loopTurns() {
  let count = 0;
  let next = setImmediate(function turn() {
    count += 1;
    next = setImmediate(turn);
  });
  return { now: () => count, [Symbol.dispose]: () => clearImmediate(next) };
}

/** A system served by this thread; `seen` are the turns in which the request was let in, and was handled. */
async function startTeam(turns: { now(): number }) {
  const seen = { letIn: 0, handled: 0, keys: 0 };
  const take = capability({
    id: 'crate.take',
    description: 'Says how many fields it is given',
    input: z.record(z.string(), z.unknown()),
    output: z.object({ keys: z.number() }),
  });
  const taker = defineAgent({
    id: 'taker',
    name: 'Taker',
    version: '1.0.0',
    description: 'Takes things',
    tier: 2,
  }).handle(take, async (given) => {
    seen.handled = turns.now();
    seen.keys = Object.keys(given).length;
    return { keys: seen.keys };
  });
  const system = await startSystem({ agents: [taker], workers: 1, spareThread: false });
  const serving = await system.serve({
    entry: 'taker',
    anonymous: true,
    authenticators: [
      {
        scheme: 'Nobody',
        authenticate: async () => {
          seen.letIn = turns.now();
          return undefined;
        },
      },
    ],
  });
  return { seen, url: serving.url, [Symbol.asyncDispose]: () => system.stop({ drainMs: 0 }) };
}

const fieldsOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v'.repeat(20)]));

const messageOf = (fields: object, id: string) => ({
  message: { messageId: id, role: 'ROLE_USER', parts: [{ data: { tool: 'crate.take', arguments: fields } }] },
});

const MCP = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'taker.crate.take',
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Way {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: (fields: object, id: string) => object;
}

const WAYS: Readonly<Record<string, Way>> = {
  'A2A over JSON-RPC': {
    path: '/rpc',
    headers: { 'a2a-version': '1.0' },
    body: (fields, id) => ({ jsonrpc: '2.0', id, method: 'SendMessage', params: messageOf(fields, id) }),
  },
  'A2A over REST': { path: '/message:send', headers: { 'a2a-version': '1.0' }, body: messageOf },
  MCP: {
    path: '/mcp',
    headers: MCP,
    body: (fields, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'taker.crate.take', arguments: fields, _meta: META },
    }),
  },
};

describe('A long body', () => {
  it('is read, checked and given to its agent in turns, between which the gateway does what else there is', async () => {
    using turns = loopTurns();
    await using team = await startTeam(turns);
    const post = async ({ path, headers, body }: Way, keys: number): Promise<number> => {
      const text = JSON.stringify(body(fieldsOf(keys), `${path}-${keys}`));
      expect(text.length > 65_536, `${text.length} bytes`).toBe(keys === KEYS);
      const answer = await fetch(`${team.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(`"keys":${keys}`)]);
      return team.seen.handled - team.seen.letIn;
    };
    for (const [name, way] of Object.entries(WAYS)) {
      await post(way, 3);
      // Before it is read, after that, and when it has been checked.
      expect(await post(way, KEYS), name).toBeGreaterThanOrEqual(3);
    }
  });
});
