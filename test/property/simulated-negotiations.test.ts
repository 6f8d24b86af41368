import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Faults, simulate } from '../../simulate.ts';
import { bargainingTeam, newLedger } from '../fixtures/bargaining-team.ts';
import { times } from '../fixtures/effort.ts';

const RUNS = times(40, 100);
const seeds = fc.integer({ min: 1, max: 1_000_000 });

/** The process ends often. */
const PROCESS_ENDS: Faults = {
  hostCrash: { probability: 0.003, most: 4 },
  slowDisk: { probability: 0.1, ms: [5, 100] },
  delay: { probability: 0.05 },
};
/** And so do its threads. */
const THREADS_END: Faults = { ...PROCESS_ENDS, crash: { probability: 0.002, most: 3 } };

/** Runs many teams under these faults; resolves with how often proposals ended how, and how many lives and deaths there were. */
async function bargain(faults: Faults) {
  const outcomes = { accepted: 0, rejected: 0, 'timed-out': 0 };
  const ends = { lives: 0, deaths: 0 };
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const ledger = newLedger();
      const { violations, error, ending, stats } = await simulate(bargainingTeam(seed, ledger, faults));
      const wrong = [...ledger.broken, ...violations];
      expect({ wrong, error, ending }).toEqual({ wrong: [], error: undefined, ending: 'quiet' });
      for (const outcome of ledger.decided.values())
        outcomes[outcome.split(' ')[0] as keyof typeof outcomes] += 1;
      ends.lives += stats.lives;
      ends.deaths += stats.faults.crash;
    }),
    { numRuns: RUNS },
  );
  return { outcomes, ends };
}

describe('Negotiations of durable agents in a simulation (F-02, F-03)', () => {
  it.each([
    ['its process', PROCESS_ENDS, 0],
    ['its process or a thread of it', THREADS_END, 0.2 * RUNS],
  ])(
    'come to one outcome each and end, however often %s ends',
    async (_, faults, leastDeaths) => {
      const { outcomes, ends } = await bargain(faults);
      expect(ends.lives).toBeGreaterThan(1.5 * RUNS);
      expect(ends.deaths).toBeGreaterThanOrEqual(leastDeaths);
      for (const [status, count] of Object.entries(outcomes))
        expect(count, status).toBeGreaterThan(times(1, 5));
    },
    120_000,
  );
});
