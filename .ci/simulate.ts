/**
 * Simulates a busy team under all faults, seed after seed, and says what came of it: `npm run simulate -- [seeds] [first]`.
 * Exits with 1 when a seed breaks a promise of the runtime.
 */
import { simulate } from '../simulate.ts';
import { busyTeam } from '../test/fixtures/simulated-team.ts';

const DEFAULT_SEEDS = 2_000;
const ROUNDS = 30;

const [seeds = DEFAULT_SEEDS, first = 1] = process.argv.slice(2).map(Number);
const totals = { envelopes: 0, steps: 0, virtualMs: 0 };
const faults: Record<string, number> = {};
const broken: number[] = [];
const startMs = performance.now();

for (let seed = first; seed < first + seeds; seed++) {
  const { violations, error, ending, stats } = await simulate({
    ...busyTeam(seed, undefined, ROUNDS),
    keepsTrace: false,
  });
  totals.envelopes += stats.accepted;
  totals.steps += stats.steps;
  totals.virtualMs += stats.virtualMs;
  for (const [fault, count] of Object.entries(stats.faults)) faults[fault] = (faults[fault] ?? 0) + count;
  if (violations.length === 0 && error === undefined && ending === 'quiet') continue;
  broken.push(seed);
  console.error(
    `Seed ${seed} (${ending}): ${[...violations, ...(error === undefined ? [] : [error])].join('; ')}`,
  );
}

const seconds = ((performance.now() - startMs) / 1_000).toFixed();
const hours = (totals.virtualMs / 3_600_000).toFixed(1);
const happened = Object.entries(faults).map(([fault, count]) => `${fault} ${count}`);
console.log(
  `${seeds} seeds, ${totals.envelopes} envelopes in ${totals.steps} steps, ${hours} virtual hours in ${seconds} s`,
);
console.log(`Faults: ${happened.join(', ')}`);
console.log(broken.length === 0 ? 'No seed broke a promise' : `Broken by ${broken.join(', ')}`);
if (broken.length > 0) process.exitCode = 1;
