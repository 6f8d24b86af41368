import { Pool } from 'undici';
import { startServer } from '../gateway/server-process.ts';
import { WORK } from '../gateway/server-order.ts';
import type { Effort, Goal, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { quartilesText, spreadOf } from '../statistics.ts';

const MIB = 1_048_576;
/** What a gateway takes at most is 32 MiB; the message is around it. */
const LARGEST = 31 * MIB;
/** What is around a text in a body of 1 MiB. */
const FRAME = 1_000;
const MOST_ROUNDS = 9;
const WARM_UPS = 3;
const KEYS = 19_000;
const OBJECTS = 199_000;

/** The floors are for slow cores that do other things besides. */
const OF_A_MIB: Goal = { better: 'less', target: 50, floor: 250 };
const OF_THE_LARGEST: Goal = { better: 'less', target: 250, floor: 1_500 };

/** What is sent at a time: to which path, with which headers. */
interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Kind {
  readonly name: string;
  readonly sent: (id: string) => Sent;
  readonly goal: Goal;
}

const text = { text: WORK };
const aText = { text: 'x'.repeat(MIB - FRAME) };
const someFields = fieldsOf(MIB / KEYS);
const someObjects = { objects: Array.from({ length: OBJECTS }, () => ({})) };

const KINDS: readonly Kind[] = [
  { name: 'a text of 1 MiB', sent: (id) => overRpc(id, aText), goal: OF_A_MIB },
  { name: `1 MiB of ${many(KEYS)} fields`, sent: (id) => overRpc(id, text, someFields), goal: OF_A_MIB },
  { name: `${many(OBJECTS)} empty objects`, sent: (id) => overRpc(id, text, someObjects), goal: OF_A_MIB },
  { name: 'a text of 1 MiB, REST', sent: (id) => overRest(id, aText), goal: OF_A_MIB },
  {
    name: `1 MiB of ${many(KEYS)} fields, REST`,
    sent: (id) => overRest(id, text, someFields),
    goal: OF_A_MIB,
  },
  { name: 'a text of 1 MiB, MCP', sent: () => overMcp({ input: aText.text }), goal: OF_A_MIB },
  {
    name: `1 MiB of ${many(KEYS)} fields, MCP`,
    sent: () => overMcp({ input: WORK, ...someFields }),
    goal: OF_A_MIB,
  },
  {
    name: `${many(OBJECTS)} empty objects, MCP`,
    sent: () => overMcp({ input: WORK, ...someObjects }),
    goal: OF_A_MIB,
  },
  {
    name: 'a text of 31 MiB',
    sent: (id) => overRpc(id, { text: 'x'.repeat(LARGEST) }),
    goal: OF_THE_LARGEST,
  },
];

/** How long another caller waits at most while bodies arrive: as long as the gateway's thread is held. */
const gatewayStall: Probe = {
  kind: 'probe',
  name: 'gateway-stall',
  title: 'the longest wait for GET /healthz while a large SendMessage or tools/call is taken in and answered',
  read: async ({ rounds }: Effort) => {
    const server = await startServer('orrery');
    const pool = new Pool(new URL(server.url).origin, { connections: 2, headersTimeout: 0, bodyTimeout: 0 });
    try {
      const readings: Reading[] = [];
      for (const kind of KINDS) readings.push(await readingOf(pool, kind, Math.min(rounds, MOST_ROUNDS)));
      return readings;
    } finally {
      await pool.close();
      await server.close();
    }
  },
};

async function readingOf(pool: Pool, { name, sent, goal }: Kind, rounds: number): Promise<Reading> {
  const waits: number[] = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const wait = await longestWait(pool, sent(`${name} ${round}`));
    if (round >= 0) waits.push(wait);
  }
  return repeatedReading(waits, { name, unit: 'ms', note: quartilesText(spreadOf(waits)), goal });
}

async function longestWait(pool: Pool, sent: Sent): Promise<number> {
  let isAnswered = false;
  const answered = send(pool, sent).finally(() => {
    isAnswered = true;
  });
  let longest = 0;
  while (!isAnswered) {
    const startMs = performance.now();
    const { body: health } = await pool.request({ path: '/healthz', method: 'GET' });
    await health.dump();
    longest = Math.max(longest, performance.now() - startMs);
  }
  await answered;
  return longest;
}

async function send(pool: Pool, { path, headers, body }: Sent): Promise<void> {
  const answer = await pool.request({ path, method: 'POST', headers: { ...JSON_TYPE, ...headers }, body });
  if (answer.statusCode !== 200) throw new Error(`It is answered with ${answer.statusCode}`);
  await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const A2A = { 'a2a-version': '1.0' };

const overRpc = (id: string, part: object, metadata?: object): Sent => ({
  path: '/rpc',
  headers: A2A,
  body: jsonOf({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: messageOf(id, part, metadata) }),
});

const overRest = (id: string, part: object, metadata?: object): Sent => ({
  path: '/message:send',
  headers: A2A,
  body: jsonOf(messageOf(id, part, metadata)),
});

const TOOL = 'adviser.bench.advise';
const REVISION = '2026-07-28';

function overMcp(args: object): Sent {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    path: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': 'tools/call',
      'mcp-name': TOOL,
    },
    body: jsonOf({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: TOOL, arguments: args, _meta: meta },
    }),
  };
}

function messageOf(messageId: string, part: object, metadata?: object): object {
  const message = { messageId, role: 'ROLE_USER', parts: [part], metadata };
  return { message, configuration: { historyLength: 0 } };
}

const jsonOf = (value: object): Buffer => Buffer.from(JSON.stringify(value));

function fieldsOf(bytes: number): object {
  return Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`k${at}`, 'v'.repeat(bytes - 13)]));
}

function many(count: number): string {
  return count.toLocaleString('en');
}

export const plugin: Plugin = { measurements: [gatewayStall] };
