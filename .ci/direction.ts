/**
 * Checks the direction of imports with dependency-cruiser, and that it cruised anything at all: with a TypeScript
 * it cannot use it cruises no modules and reports success.
 */
import { existsSync, readdirSync } from 'node:fs';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const ROOMS = [
  'index.ts',
  'worker.ts',
  'process.ts',
  'simulate.ts',
  'runtime',
  'actors',
  'transports',
  'policies',
  'apps',
  'examples',
  'test',
  'bench',
];

const { forbidden = [], options = {} } = await extractDepcruiseConfig('./.dependency-cruiser.cjs');
const reached = ROOMS.filter((room) => existsSync(room));

const { output } = await cruise(
  reached,
  { ...options, ruleSet: { forbidden }, validate: true },
  {},
  { tsConfig: extractTSConfig('tsconfig.json') },
);
const { modules, summary } = output as ICruiseResult;

const ours = modules.filter(({ source }) => /^(?!.*node_modules\/).*\.ts$/.test(source));
const unseen = reached.filter(
  (room) => hasSources(room) && !ours.some(({ source }) => source.startsWith(room)),
);

for (const { rule, from, to, cycle } of summary.violations) {
  const path = cycle ? cycle.map(({ name }) => name).join(' -> ') : to;
  console.error(`${rule.name}: ${from} -> ${path}`);
}
for (const room of unseen) console.error(`${room} has sources, none was cruised`);
console.log(`${ours.length} modules cruised, ${summary.violations.length} violations`);

if (ours.length === 0)
  console.error('No module was cruised: check the versions of dependency-cruiser and TypeScript');
if (ours.length === 0 || unseen.length > 0 || summary.violations.length > 0) process.exitCode = 1;

function hasSources(room: string): boolean {
  if (room.endsWith('.ts')) return true;
  return readdirSync(room, { recursive: true, encoding: 'utf8' }).some(
    (file) => file.endsWith('.ts') && !/(^|\/)(node_modules|dist|fixtures)\//.test(file),
  );
}
