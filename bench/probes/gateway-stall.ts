import { Pool } from 'undici';
import { startServer } from '../gateway/server-process.ts';
import { WORK } from '../gateway/server-order.ts';
import type { Effort, Goal, Probe, Reading } from '../measurement.ts';
import { spreadOf } from '../statistics.ts';

const MIB = 1_048_576;
/** What a gateway takes at most is 32 MiB; the message is around it. */
const LARGEST = 31 * MIB;
const MOST_ROUNDS = 9;
const WARM_UPS = 3;
const KEYS = 19_000;

interface Kind {
  readonly name: string;
  readonly body: (id: string) => Buffer;
  readonly goal?: Goal;
}

/** The floors are for slow cores that do other things besides. */
const KINDS: readonly Kind[] = [
  {
    name: 'a text of 1 MiB',
    body: (id) => messageOf(id, { text: 'x'.repeat(MIB) }),
    goal: { better: 'less', target: 50, floor: 250 },
  },
  {
    name: `1 MiB of ${KEYS.toLocaleString('en')} fields`,
    body: (id) => messageOf(id, { text: WORK }, fieldsOf(MIB / KEYS)),
    goal: { better: 'less', target: 50, floor: 250 },
  },
  {
    name: 'a text of 31 MiB',
    body: (id) => messageOf(id, { text: 'x'.repeat(LARGEST) }),
    goal: { better: 'less', target: 250, floor: 1_500 },
  },
];

/** How long another caller waits at most while bodies arrive: as long as the gateway's thread is held. */
export const gatewayStall: Probe = {
  kind: 'probe',
  name: 'gateway-stall',
  title: 'the longest wait for GET /healthz while a large SendMessage is taken in and answered',
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

async function readingOf(pool: Pool, { name, body, goal }: Kind, rounds: number): Promise<Reading> {
  const waits: number[] = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const wait = await longestWait(pool, body(`${name} ${round}`));
    if (round >= 0) waits.push(wait);
  }
  const { median, lowerQuartile, upperQuartile } = spreadOf(waits);
  const note = `[${lowerQuartile.toFixed(0)} .. ${upperQuartile.toFixed(0)}]`;
  return { name, value: median, unit: 'ms', note, ...(goal === undefined ? {} : { goal }) };
}

async function longestWait(pool: Pool, body: Buffer): Promise<number> {
  let isAnswered = false;
  const answered = send(pool, body).finally(() => {
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

async function send(pool: Pool, body: Buffer): Promise<void> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const answer = await pool.request({ path: '/rpc', method: 'POST', headers, body });
  if (answer.statusCode !== 200) throw new Error(`It is answered with ${answer.statusCode}`);
  await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
}

function messageOf(messageId: string, part: object, metadata?: object): Buffer {
  const message = { messageId, role: 'ROLE_USER', parts: [part], metadata };
  const params = { message, configuration: { historyLength: 0 } };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }));
}

const fieldsOf = (bytes: number): object =>
  Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`k${at}`, 'v'.repeat(bytes - 12)]));
