/**
 * Ends, freezes and burdens real processes at random moments, and counts what comes of what they had acknowledged:
 * `npm run chaos`. Exits with 1 when a promise did not hold; `--seed` chooses the same moments again.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brokenPromises, tableOf } from './figures.ts';
import { amountsOf, runScenarios, SCENARIOS, type ScenarioName } from './scenarios.ts';

const USAGE = `npm run chaos -- [options]
  --kills N         how many processes are killed, over all scenarios (default: 200); a freeze for each twenty
  --seed S          what is chosen by chance is chosen by this (default: a new one)
  --only NAME       one of ${Object.keys(SCENARIOS).join(', ')}
  --soak-minutes M  how long the soak lasts (default: 5)`;

const DEFAULT_KILLS = 200;
const DEFAULT_SOAK_MINUTES = 5;
const MAX_SEED = 2 ** 31;

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    'soak-minutes': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  const kills = numberOf('kills', DEFAULT_KILLS);
  const seed = numberOf('seed', Math.floor(Math.random() * MAX_SEED));
  const soakMinutes = numberOf('soak-minutes', DEFAULT_SOAK_MINUTES);
  const only = values.only === undefined ? undefined : scenarioOf(values.only);
  const amounts = amountsOf(kills, soakMinutes);
  const chosen = only === undefined ? amounts : { [only]: only === 'soak' ? amounts.soak : kills };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-chaos-')));
  console.log(`Seed ${seed}, in ${folder}`);
  const all = await runScenarios({ folder, seed, amounts: chosen, say: (text) => console.log(text) });
  console.log(`\n${tableOf(all)}\n`);
  for (const [name, { notes }] of all)
    console.log(`${name}: ${[...notes].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  const broken = [...all].flatMap(([name, figures]) =>
    brokenPromises(figures).map((what) => `${name}: ${what}`),
  );
  if (broken.length === 0) {
    rmSync(folder, { recursive: true, force: true });
    console.log('Every promise held');
    return 0;
  }
  console.error(`${broken.join('\n')}\nBroken with --seed ${seed}; what is left of it is in ${folder}`);
  return 1;
}

function numberOf(option: 'kills' | 'seed' | 'soak-minutes', otherwise: number): number {
  const typed = values[option];
  const value = typed === undefined ? otherwise : Number(typed);
  if (!Number.isFinite(value) || value < 0 || typed === '')
    throw new Error(`Option "--${option}" is "${typed}", expected a number from 0 on`);
  return value;
}

function scenarioOf(name: string): ScenarioName {
  if (Object.hasOwn(SCENARIOS, name)) return name as ScenarioName;
  throw new Error(`Option "--only" is "${name}", expected one of ${Object.keys(SCENARIOS).join(', ')}`);
}
