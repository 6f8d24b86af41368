import { rawPortFlood } from '../contenders/raw-flood.ts';

export type FloodMode = 'reject' | 'park' | 'raw';

export interface FloodOutcome {
  readonly growthMb: number;
  readonly sent: number;
  readonly accepted: number;
}

/** How long a flood of ours lasts; the raw one would take all memory and is counted instead. */
const FLOOD_MS = 1_500;
const RAW_COUNT = 100_000;
const SAMPLE_MS = 10;
const MB = 1_000_000;

const mode = process.argv[2] as FloodMode;
console.log(JSON.stringify(mode === 'raw' ? await floodRaw() : await floodOrrery(mode)));

async function floodOrrery(whenFull: 'reject' | 'park'): Promise<FloodOutcome> {
  const { startSystem } = await import('orrery');
  const { inTwoWorkers } = await import('../orrery-team.ts');
  const { floodBurst } = await import('../agents/flood-capabilities.ts');
  const module = (file: string): URL => new URL(`../agents/${file}`, import.meta.url);
  await using system = await startSystem({
    agents: inTwoWorkers(
      [{ module: module('flooder.agent.ts'), instances: ['flooder'] }],
      [
        { module: module('slow-receiver.agent.ts'), instances: ['slow'] },
        { module: module('handler-receiver.agent.ts'), instances: ['fast'] },
      ],
    ),
    workers: 2,
  });
  const flood = (recipient: string) =>
    system.ask({ agent: 'flooder', capability: floodBurst }, { recipient, forMs: FLOOD_MS, whenFull });
  // The same flood at a receiver that keeps up grows the heaps to their working size; what comes on top is held mail.
  await flood('fast');
  return await withGrowth(() => flood('slow'));
}

async function floodRaw(): Promise<FloodOutcome> {
  const session = await rawPortFlood.open();
  const outcome = await withGrowth(async () => {
    await session.run(RAW_COUNT);
    return { sent: RAW_COUNT, accepted: RAW_COUNT };
  });
  await session.close();
  return outcome;
}

/** What `work` returns and by how much the process grew at its highest. */
async function withGrowth(work: () => Promise<Omit<FloodOutcome, 'growthMb'>>): Promise<FloodOutcome> {
  const before = process.memoryUsage.rss();
  let highest = before;
  const sampler = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const outcome = await work();
  clearInterval(sampler);
  highest = Math.max(highest, process.memoryUsage.rss());
  return { ...outcome, growthMb: (highest - before) / MB };
}
