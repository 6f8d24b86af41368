import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Faults, simulate } from '../../simulate.ts';
import { times } from '../fixtures/effort.ts';
import {
  ALL_JOURNAL_FAULTS,
  brokenPromises,
  JOURNAL_FAULTS,
  journaledTeam,
  newBooks,
} from '../fixtures/journaled-team.ts';
import { swarmingTeam } from '../fixtures/swarming-team.ts';

const RUNS = times(30, 100);
/** Of what matters most. */
const MANY_RUNS = times(50, 200);
const seeds = fc.integer({ min: 1, max: 1_000_000 });

async function broken(seed: number, faults: Faults, isStrict: boolean) {
  const books = newBooks();
  const result = await simulate(journaledTeam(seed, books, { faults }));
  return { broken: brokenPromises(books, result, { isStrict }), stats: result.stats, books };
}

describe('simulate with a journal (F-01, F-03)', () => {
  it('loses nothing that is kept, and repeats nothing, however often the process ends and the disk fails', async () => {
    const seen = { hostCrash: 0, slowDisk: 0, fullDisk: 0 };
    let lives = 0;
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const run = await broken(seed, JOURNAL_FAULTS, true);
        expect(run.broken).toEqual([]);
        lives += run.stats.lives;
        for (const kind of Object.keys(seen) as (keyof typeof seen)[]) seen[kind] += run.stats.faults[kind];
      }),
      { numRuns: MANY_RUNS },
    );
    for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(times(15, 100));
    expect(lives).toBeGreaterThan(2 * MANY_RUNS);
  }, 120_000);

  it('loses nothing that is kept under all faults at once', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const run = await broken(seed, ALL_JOURNAL_FAULTS, false);
        expect(run.broken).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  it('tells nothing dead without its name, and loses nothing, when threads die one after the other', async () => {
    const faults: Faults = { ...ALL_JOURNAL_FAULTS, crash: { probability: 0.01, most: 12 } };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const books = newBooks();
        const result = await simulate(journaledTeam(seed, books, { faults }));
        const broken = brokenPromises(books, result, { isStrict: false });
        expect(broken.filter((one) => one.includes('is lost'))).toEqual([]);
        expect(result.remains?.deadLetters.filter(({ envelope }) => envelope?.id === '')).toEqual([]);
      }),
      // In these both threads that held an envelope died within a few milliseconds.
      { numRuns: RUNS, examples: [[12], [79], [103], [116]] },
    );
  }, 120_000);

  it('loses nothing that is kept when the machine loses power', async () => {
    const faults: Faults = { ...JOURNAL_FAULTS, hostCrash: { probability: 0.003, most: 4, powerLoss: 0.5 } };
    let begunAgain = 0;
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const run = await broken(seed, faults, false);
        expect(run.broken).toEqual([]);
        const { booked } = run.books;
        const once = booked.filter(({ by }) => by === 'once-books').map(({ n }) => n);
        begunAgain += once.length - new Set(once).size;
      }),
      { numRuns: RUNS },
    );
    // What semantics.md does not promise is what the simulation has happen.
    expect(begunAgain).toBeGreaterThan(0);
  }, 120_000);

  it('brings swarms to their end across processes: no sub-task has two results, or two agents (N-8.4, N-8.5)', async () => {
    let lives = 0;
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const { violations, error, ending, value, stats } = await simulate(swarmingTeam(seed));
        expect({ violations, error, ending }).toEqual({ violations: [], error: undefined, ending: 'quiet' });
        expect((value as { status: string }).status).toBe('completed');
        lives += stats.lives;
      }),
      { numRuns: RUNS },
    );
    expect(lives).toBeGreaterThan(1.2 * RUNS);
  }, 120_000);

  it('gives the same trace for the same seed', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const options = { faults: ALL_JOURNAL_FAULTS, count: 8 };
        const one = await simulate(journaledTeam(seed, newBooks(), options));
        const again = await simulate(journaledTeam(seed, newBooks(), options));
        expect(again.traceHash).toBe(one.traceHash);
        expect(again.trace()).toBe(one.trace());
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});
