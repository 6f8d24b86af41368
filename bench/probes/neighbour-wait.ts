import { FAULTS } from '../agents/faulty-capability.ts';
import { runChild } from '../child-process.ts';
import type { NeighbourOutcome } from '../children/neighbour-wait.ts';
import type { Effort, Goal, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { quartilesText, spreadOf } from '../statistics.ts';

const CHILD = new URL('../children/neighbour-wait.ts', import.meta.url);
const CHILD_MS = 60_000;
const MOST_ROUNDS = 5;

/** The failure matrix: everybody else answers within a second. */
const WITHIN_A_SECOND: Goal = { better: 'less', target: 250, floor: 1_000 };

/** How long others wait at most while an agent in another worker has a fault and comes back. */
const neighbourWait: Probe = {
  kind: 'probe',
  name: 'neighbour-wait',
  title: 'the longest wait for an answer while an agent in another worker fails, until it is back',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    const readings: Reading[] = [];
    for (const fault of FAULTS) readings.push(await readingOf(fault, Math.min(rounds, MOST_ROUNDS)));
    return readings;
  },
};

async function readingOf(fault: string, rounds: number): Promise<Reading> {
  const waits: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const outcome = await runChild({ module: CHILD, args: [fault], timeoutMs: CHILD_MS });
    waits.push((outcome as NeighbourOutcome).longestMs);
  }
  return repeatedReading(waits, {
    name: `one that ${fault}`,
    unit: 'ms',
    note: quartilesText(spreadOf(waits)),
    goal: WITHIN_A_SECOND,
  });
}

export const plugin: Plugin = { measurements: [neighbourWait] };
