import { runChild } from '../child-process.ts';
import type { IdleMemory } from '../children/idle-agents.ts';
import type { Effort, Goal, Probe, Reading } from '../measurement.ts';

type Kind = 'lazy' | 'started' | 'machine';

const CHILD = new URL('../children/idle-agents.ts', import.meta.url);
const CHILD_MS = 60_000;
const COUNTS = [10_000, 100_000];
/** With few rounds only the smaller count is measured. */
const ROUNDS_FOR_ALL = 5;
const KB = 1_000;

/** DESIGN 11: kilobytes of heap for an agent that was started, and for one that waits for its first envelope. */
const GOALS: Readonly<Record<Kind, Goal>> = {
  started: { better: 'less', target: 6, floor: 6 },
  machine: { better: 'less', target: 6, floor: 6 },
  lazy: { better: 'less', target: 1, floor: 1 },
};

const NAMES: Readonly<Record<Kind, string>> = {
  lazy: 'lazy',
  started: 'started, of handlers',
  machine: 'started, of an XState machine',
};

/** Instances of one module in the embedder's thread, whose heap can be read after a collection. */
export const idleAgents: Probe = {
  kind: 'probe',
  name: 'idle-agents',
  title: 'Agents that have nothing to do, in one process',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    const counts = rounds >= ROUNDS_FOR_ALL ? COUNTS : COUNTS.slice(0, 1);
    const one = await memoryOf('started', 1);
    const readings: Reading[] = [];
    for (const count of counts) {
      for (const kind of ['lazy', 'started', 'machine'] as const)
        readings.push(...(await readingsOf(kind, count, one)));
    }
    return readings;
  },
};

async function memoryOf(kind: Kind, count: number): Promise<IdleMemory> {
  const execArgv = [...process.execArgv, '--expose-gc'];
  const options = { module: CHILD, args: [kind, String(count)], timeoutMs: CHILD_MS, execArgv };
  return (await runChild(options)) as IdleMemory;
}

/** What a process of `count` agents has more than a process of one. */
async function readingsOf(kind: Kind, count: number, one: IdleMemory): Promise<readonly Reading[]> {
  const { heapBytes, processBytes, startMs } = await memoryOf(kind, count);
  const perAgent = (bytes: number): number => bytes / (count - 1) / KB;
  const label = `${count.toLocaleString('en')} ${NAMES[kind]}`;
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
