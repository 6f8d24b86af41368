import { runChild } from '../child-process.ts';
import type { FloodMode, FloodOutcome } from '../children/flood-memory.ts';
import type { Goal, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';

const CHILD = new URL('../children/flood-memory.ts', import.meta.url);
const CHILD_MS = 30_000;
const RUNS = 3;

/** DESIGN 11: a flood grows a pair of threads by at most 20 MB. */
const BOUNDED: Goal = { better: 'less', target: 20, floor: 20 };

/** Memory that a sender takes who is a hundred times faster than its receiver, in a process of its own. */
const floodMemory: Probe = {
  kind: 'probe',
  name: 'flood-memory',
  title: 'Growth of a process while one thread floods a receiver that handles 1,000 a second',
  read: async (): Promise<readonly Reading[]> => [
    await flood('reject', BOUNDED),
    await flood('park', BOUNDED),
    await flood('raw'),
  ],
};

const NAMES: Readonly<Record<FloodMode, string>> = {
  reject: 'orrery, refused when full',
  park: 'orrery, parked when full',
  raw: 'raw port, unbounded',
};

/** The middle one of a few runs: when a collection happens to come makes one run differ from the next. */
async function flood(mode: FloodMode, goal?: Goal): Promise<Reading> {
  const outcomes: FloodOutcome[] = [];
  for (let run = 0; run < RUNS; run++) outcomes.push(await floodOnce(mode));
  const growth = outcomes.map(({ growthMb }) => growthMb);
  const { sent, accepted } = outcomes[0] ?? { sent: 0, accepted: 0 };
  const runs = growth.map((mb) => mb.toFixed(0)).join(', ');
  const note = `runs ${runs}; ${sent} sent, ${accepted} accepted in the first`;
  return repeatedReading(growth, { name: NAMES[mode], unit: 'MB', note, goal });
}

const floodOnce = async (mode: FloodMode): Promise<FloodOutcome> =>
  (await runChild({ module: CHILD, args: [mode], timeoutMs: CHILD_MS })) as FloodOutcome;

export const plugin: Plugin = { measurements: [floodMemory] };
