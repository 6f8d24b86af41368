import { BenchClient } from '../gateway/client.ts';
import { type ServerKind, type ServerProcess, startServer } from '../gateway/server-process.ts';
import type { Effort, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { quartilesText, spreadOf } from '../statistics.ts';

const CHUNKS = 2_000;
const FEWER = 500;
/** What takes four times as many pieces should take about four times as long. */
const LINEAR = CHUNKS / FEWER;
const MOST_ROUNDS = 5;
const WARM_UPS = 2;

interface Timed {
  readonly kind: ServerKind;
  readonly process: ServerProcess;
  readonly client: BenchClient;
  readonly many: number[];
  readonly few: number[];
}

/** An artifact that its agent makes piece by piece, from the message until the completed task is here whole. */
const gatewayArtifact: Probe = {
  kind: 'probe',
  name: 'gateway-artifact',
  title: `SendMessage to a task whose artifact comes in ${CHUNKS.toLocaleString('en')} pieces, in memory`,
  read: async ({ rounds }: Effort) => {
    const servers: Timed[] = [];
    try {
      for (const kind of ['orrery', 'sdk'] as const) servers.push(await opened(kind));
      for (let round = 0; round < Math.min(rounds, MOST_ROUNDS); round++)
        for (const server of servers) await measure(server);
      return readingsOf(servers);
    } finally {
      for (const { client, process } of servers) {
        await client.close();
        await process.close();
      }
    }
  },
};

async function opened(kind: ServerKind): Promise<Timed> {
  const process = await startServer(kind);
  const client = new BenchClient(process.url);
  for (let at = 0; at < WARM_UPS; at++) await client.send(`chunks ${FEWER}`);
  return { kind, process, client, many: [], few: [] };
}

async function measure({ client, many, few }: Timed): Promise<void> {
  few.push(await timeOf(() => client.send(`chunks ${FEWER}`)));
  many.push(await timeOf(() => client.send(`chunks ${CHUNKS}`)));
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

function readingsOf(servers: readonly Timed[]): readonly Reading[] {
  const [ours, theirs] = servers;
  const ratios = ours?.many.map((ms, round) => (theirs?.many[round] ?? Number.NaN) / ms) ?? [];
  return [
    ...servers.flatMap(({ kind, many, few }) => {
      const name = kind === 'sdk' ? 'a2a-js sdk' : kind;
      const spread = spreadOf(many);
      const growth = many.map((ms, round) => ms / (few[round] ?? Number.NaN));
      return [
        repeatedReading(many, { name, unit: 'ms', note: quartilesText(spread) }),
        repeatedReading(growth, {
          name: `${name}, beside ${FEWER} pieces`,
          unit: 'times as long',
          note: `linear is ${LINEAR}`,
        }),
      ];
    }),
    repeatedReading(ratios, {
      name: 'orrery, rate of a2a-js sdk',
      unit: 'times',
      goal: { better: 'more', target: 1, floor: 1 },
    }),
  ];
}

export const plugin: Plugin = { measurements: [gatewayArtifact] };
