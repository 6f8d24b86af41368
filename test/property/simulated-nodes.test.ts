import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Faults, type NetworkOptions, type NodesResult, simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';
import { brokenChannel, newChannelBooks, talkingNodes } from '../fixtures/simulated-channels.ts';
import {
  brokenBetween,
  busyNodes,
  neverBegun,
  newNodesBooks,
  type NodesBooks,
} from '../fixtures/simulated-nodes.ts';

const RUNS = times(4, 250);
const LIMIT_MS = times(120_000, 3_600_000);
const seeds = fc.integer({ min: 1, max: 1_000_000 });

/** Connections come and go, and come back sooner than a channel gives up; all stalls together are shorter than its retries. */
const ROUGH: NetworkOptions = {
  delayMs: [1, 80],
  cut: { probability: 0.008, most: 6 },
  stall: { probability: 0.005, ms: [100, 1_500], most: 3 },
  partition: { probability: 0.003, ms: [100, 4_000], most: 2 },
  refuse: { probability: 0.1 },
};
/** No envelope loses so many connections that its channel gives it up. */
const CUT: NetworkOptions = {
  ...ROUGH,
  cut: { probability: 0.008, most: 2 },
  partition: { probability: 0.003, ms: [100, 4_000], most: 1 },
};
/** Nodes are apart for so long that they are told so. */
const PARTED: NetworkOptions = {
  cut: { probability: 0.005 },
  partition: { probability: 0.004, ms: [1_000, 90_000] },
};
const KILLED: { readonly network: NetworkOptions; readonly faults: Faults } = {
  network: {
    cut: { probability: 0.004 },
    partition: { probability: 0.002, ms: [100, 20_000] },
    refuse: { probability: 0.1 },
  },
  faults: { hostCrash: { probability: 0.0007, most: 2, downMs: [10, 40_000] } },
};
const THREADS: { readonly network: NetworkOptions; readonly faults: Faults } = {
  network: { cut: { probability: 0.004 } },
  faults: {
    crash: { probability: 0.003, most: 2 },
    delay: { probability: 0.05 },
    slow: { probability: 0.2 },
  },
};

interface Ran {
  readonly books: NodesBooks;
  readonly result: NodesResult;
}

/** Runs three busy nodes with seed after seed, and returns what happened, summed up. */
async function run(
  scenario: { readonly network: NetworkOptions; readonly faults?: Faults },
  look: (ran: Ran) => void = () => undefined,
): Promise<NodesResult['network'] & { readonly lives: number; readonly streams: number }> {
  const sums: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      const books = newNodesBooks();
      const result = await simulate(busyNodes(books, { seed, ...scenario }));
      expect(brokenBetween(books, result)).toEqual([]);
      look({ books, result });
      const lives = Object.values(result.nodes).reduce((sum, { stats }) => sum + stats.lives - 1, 0);
      for (const [what, count] of Object.entries({ ...result.network, lives, streams: books.streams }))
        sums[what] = (sums[what] ?? 0) + count;
    }),
    { numRuns: RUNS },
  );
  return sums as never;
}

describe('simulate, with several nodes (F-03, N-3.6, N-3.7)', { timeout: LIMIT_MS }, () => {
  it('brings everything once, in order, over connections that are cut, stall and part', async () => {
    const seen = await run({ network: ROUGH }, ({ books }) => {
      expect(neverBegun(books)).toEqual([]);
      expect(books.failed).toEqual([]);
    });
    for (const what of ['cut', 'stall', 'partition', 'refused', 'lost', 'streams'] as const)
      expect(seen[what], what).toBeGreaterThan(0);
  });

  it('handles or tells everything when nodes are parted for long', async () => {
    const seen = await run({ network: PARTED });
    expect(seen.partition).toBeGreaterThan(0);
  });

  it('handles once or tells everything when nodes are killed and come back', async () => {
    const seen = await run(KILLED);
    expect(seen.lives).toBeGreaterThan(0);
  });

  it('handles once or tells everything when threads of nodes die', async () => {
    const seen = await run(THREADS);
    expect(seen.cut).toBeGreaterThan(0);
  });

  it.each([
    ['that are cut, stall and part', { network: CUT }],
    ['that part for long', { network: PARTED }],
    ['of nodes that are killed', KILLED],
  ])(
    'carries a channel once and in order both ways, or tells its sender, over connections %s (N-3.1)',
    async (_, scenario) => {
      let arrived = 0;
      let failed = 0;
      await fc.assert(
        fc.asyncProperty(seeds, async (seed) => {
          const books = newChannelBooks();
          const { ending, violations, nodes } = await simulate(talkingNodes(books, { seed, ...scenario }));
          expect({ ending, violations, error: nodes['oslo']?.error }).toEqual({
            ending: 'quiet',
            violations: [],
          });
          expect(brokenChannel(books, scenario === KILLED)).toEqual([]);
          if (scenario.network === CUT) expect(books.there.failed).toEqual([]);
          arrived += books.back.arrived.length;
          failed += books.there.failed.length;
        }),
        { numRuns: RUNS },
      );
      expect(arrived).toBeGreaterThan(0);
      if (RUNS > 100 && scenario.network !== CUT) expect(failed).toBeGreaterThan(0);
    },
  );

  it('gives the same traces for the same seed, and others for another', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const of = (one: number) => simulate(busyNodes(newNodesBooks(), { seed: one, ...KILLED, rounds: 5 }));
        const [one, again, other] = [await of(seed), await of(seed), await of(seed + 1)];
        expect(again.traceHash).toBe(one.traceHash);
        expect(again.network).toEqual(one.network);
        expect(other.traceHash).not.toBe(one.traceHash);
      }),
      { numRuns: times(2, 50) },
    );
  });
});
