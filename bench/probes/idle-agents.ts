import { runChild } from '../child-process.ts';
import type { IdleMemory } from '../children/idle-agents.ts';
import { type Effort, type Goal, type Probe, type Reading, Unavailable } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';

const KINDS = ['lazy', 'gone', 'started', 'machine'] as const;
type Kind = (typeof KINDS)[number];

const CHILD = new URL('../children/idle-agents.ts', import.meta.url);
const CHILD_MS = 60_000;
const KB = 1_000;

/**
 * DESIGN 11: kilobytes of heap for an agent that was started, and for one that waits for its first envelope; also where
 * three others have come and gone before it.
 */
const GOALS: Readonly<Record<Kind, Goal>> = {
  started: { better: 'less', target: 6, floor: 6 },
  machine: { better: 'less', target: 6, floor: 6 },
  lazy: { better: 'less', target: 1, floor: 1 },
  gone: { better: 'less', target: 1, floor: 1.5 },
};

const NAMES: Readonly<Record<Kind, string>> = {
  lazy: 'lazy',
  gone: 'lazy, the fourth under their ids',
  started: 'started, of handlers',
  machine: 'started, of an XState machine',
};

/** Instances of one module in the embedder's thread, whose heap can be read after a collection. */
const idleAgentsOf = (count: number, fewestRounds: number): Probe => ({
  kind: 'probe',
  name: `idle-agents-${count}`,
  title: `${count.toLocaleString('en')} agents that have nothing to do, in one process`,
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    if (rounds < fewestRounds) throw new Unavailable(`left out below ${fewestRounds} rounds`);
    const one = await memoryOf('started', 1);
    const readings: Reading[] = [];
    for (const kind of KINDS) readings.push(...(await readingsOf(kind, count, one)));
    return readings;
  },
});

const idleAgents: readonly Probe[] = [idleAgentsOf(10_000, 1), idleAgentsOf(100_000, 5)];

async function memoryOf(kind: Kind, count: number): Promise<IdleMemory> {
  const execArgv = [...process.execArgv, '--expose-gc'];
  const options = { module: CHILD, args: [kind, String(count)], timeoutMs: CHILD_MS, execArgv };
  return (await runChild(options)) as IdleMemory;
}

/** What a process of `count` agents has more than a process of one. */
async function readingsOf(kind: Kind, count: number, one: IdleMemory): Promise<readonly Reading[]> {
  const { heapBytes, processBytes, startMs } = await memoryOf(kind, count);
  const perAgent = (bytes: number): number => bytes / (count - 1) / KB;
  const label = NAMES[kind];
  const unit = 'kB an agent';
  return [
    { name: `${label}: heap`, value: perAgent(heapBytes - one.heapBytes), unit, goal: GOALS[kind] },
    {
      name: `${label}: process`,
      value: perAgent(processBytes - one.processBytes),
      unit,
      note: 'all threads',
    },
    { name: `${label}: startSystem`, value: startMs, unit: 'ms' },
  ];
}

export const plugin: Plugin = { measurements: idleAgents };
