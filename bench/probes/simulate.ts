import { runChild } from '../child-process.ts';
import type { SimulateCost } from '../children/simulate.ts';
import type { Effort, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';

const CHILD = new URL('../children/simulate.ts', import.meta.url);
const CHILD_MS = 60_000;
const MOST_RUNS = 9;
const ENVELOPES = 10_000;
/** The first one is measured by itself: that is what a user waits for. */
const GOAL = { better: 'less', target: 2_000, floor: 2_000 } as const;

/** What simulating a team takes, with everything on: invariants, trace, hash. */
const simulation: Probe = {
  kind: 'probe',
  name: 'simulate',
  title: '10,000 envelopes among 21 agents in virtual time',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    const runs = String(Math.min(rounds, MOST_RUNS));
    const costs = (await runChild({ module: CHILD, args: [runs], timeoutMs: CHILD_MS })) as SimulateCost[];
    const wrong = costs.filter(({ envelopes, violations }) => envelopes !== ENVELOPES || violations > 0);
    if (wrong.length > 0) throw new Error(`A simulation went wrong: ${JSON.stringify(wrong[0])}`);
    const times = costs.map(({ ms }) => ms);
    return [
      { name: 'first run', value: costs[0]?.ms ?? 0, unit: 'ms', goal: GOAL },
      repeatedReading(times, { name: 'run', unit: 'ms', note: `${costs[0]?.steps} steps`, goal: GOAL }),
      repeatedReading(
        times.map((ms) => (ENVELOPES / ms) * 1_000),
        { name: 'envelopes', unit: 'a second' },
      ),
    ];
  },
};

export const plugin: Plugin = { measurements: [simulation] };
