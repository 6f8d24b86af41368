/**
 * Simulates a busy team under all faults, and one with a journal whose process is killed and whose disk is slow and full,
 * seed after seed, and says what came of it: `npm run simulate -- [seeds] [first]`.
 * Exits with 1 when a seed breaks a promise of the runtime.
 */
import { type SimulationResult, simulate } from '../simulate.ts';
import {
  ALL_JOURNAL_FAULTS,
  brokenPromises,
  JOURNAL_FAULTS,
  journaledTeam,
  newBooks,
} from '../test/fixtures/journaled-team.ts';
import { busyTeam } from '../test/fixtures/simulated-team.ts';

const DEFAULT_SEEDS = 2_000;
const ROUNDS = 30;

const [seeds = DEFAULT_SEEDS, first = 1] = process.argv.slice(2).map(Number);
const totals = { envelopes: 0, steps: 0, virtualMs: 0, lives: 0 };
const faults: Record<string, number> = {};
const broken: string[] = [];
const startMs = performance.now();

/** What is wrong with a run, in sentences. */
type Trial = (seed: number) => Promise<{ readonly result: SimulationResult; readonly problems: string[] }>;

const busy: Trial = async (seed) => {
  const result = await simulate({ ...busyTeam(seed, undefined, ROUNDS), keepsTrace: false });
  const { violations, error, ending } = result;
  const problems = [
    ...violations,
    ...(error === undefined ? [] : [String(error)]),
    ...(ending === 'quiet' ? [] : [ending]),
  ];
  return { result, problems };
};

/** Where threads die too, what docs/semantics does not promise is not asked for. */
const journaled =
  (given: typeof JOURNAL_FAULTS, isStrict: boolean): Trial =>
  async (seed) => {
    const books = newBooks();
    const result = await simulate({ ...journaledTeam(seed, books, { faults: given }), keepsTrace: false });
    return { result, problems: brokenPromises(books, result, { isStrict }) };
  };

const TRIALS: Readonly<Record<string, Trial>> = {
  'without a journal': busy,
  'with a journal': journaled(JOURNAL_FAULTS, true),
  'with a journal, under all faults': journaled(ALL_JOURNAL_FAULTS, false),
};

for (let seed = first; seed < first + seeds; seed++) {
  for (const [name, trial] of Object.entries(TRIALS)) {
    const { result, problems } = await trial(seed);
    const { stats } = result;
    totals.envelopes += stats.accepted;
    totals.steps += stats.steps;
    totals.virtualMs += stats.virtualMs;
    totals.lives += stats.lives;
    for (const [fault, count] of Object.entries(stats.faults)) faults[fault] = (faults[fault] ?? 0) + count;
    if (problems.length === 0) continue;
    broken.push(`${seed} ${name}`);
    console.error(`Seed ${seed} ${name}: ${problems.join('; ')}`);
  }
}

const seconds = ((performance.now() - startMs) / 1_000).toFixed();
const hours = (totals.virtualMs / 3_600_000).toFixed(1);
const happened = Object.entries(faults).map(([fault, count]) => `${fault} ${count}`);
console.log(
  `${seeds} seeds, ${totals.envelopes} envelopes in ${totals.steps} steps and ${totals.lives} processes, ${hours} virtual hours in ${seconds} s`,
);
console.log(`Faults: ${happened.join(', ')}`);
console.log(broken.length === 0 ? 'No seed broke a promise' : `Broken by ${broken.join(', ')}`);
if (broken.length > 0) process.exitCode = 1;
