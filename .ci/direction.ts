/**
 * Checks the direction of imports with dependency-cruiser, and that it cruised anything at all: with a TypeScript
 * it cannot use it cruises no modules and reports success. Holds the tables of rooms in docs against the rooms that the rules
 * are made of; with `--write` it writes them.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { ROOMS, roomsInCircles, TABLES_OF_ROOMS } from './rooms.ts';

const CRUISED = [
  'index.ts',
  'start-team.ts',
  'worker.ts',
  'process.ts',
  'simulate.ts',
  'gateway.ts',
  'agentmesh.ts',
  'xpr.ts',
  'lango.ts',
  'hyperswarm.ts',
  'remote.ts',
  'mcp.ts',
  'machines.ts',
  'runtime',
  'actors',
  'transports',
  'policies',
  'gateway/',
  'apps',
  'examples',
  'test',
  'bench',
];

const { forbidden = [], options = {} } = await extractDepcruiseConfig('./.dependency-cruiser.cjs');
const reached = CRUISED.filter((room) => existsSync(room));

/** What is only a type is not loaded: what may be loaded is looked at without them. */
const WHEN_LOADED = 'the-root-needs-no-peers';
const isWhenLoaded = ({ name }: { name?: string }): boolean => name === WHEN_LOADED;
const rules = forbidden.filter((rule) => !isWhenLoaded(rule));
const { modules, summary } = await cruised(reached, rules, 'specify');
const loaded = await cruised(
  ['index.ts', 'start-team.ts', 'worker.ts', 'process.ts'],
  forbidden.filter(isWhenLoaded),
  false,
);
const violations = [...summary.violations, ...loaded.summary.violations];

const ours = modules.filter(({ source }) => /^(?!.*node_modules\/).*\.ts$/.test(source));
const unseen = reached.filter(
  (room) => hasSources(room) && !ours.some(({ source }) => source.startsWith(room)),
);

for (const { rule, from, to, cycle } of violations) {
  const path = cycle ? cycle.map(({ name }) => name).join(' -> ') : to;
  console.error(`${rule.name}: ${from} -> ${path}`);
}
for (const room of unseen) console.error(`${room} has sources, none was cruised`);
const faults = [...circles(), ...unnamed(), ...tableFaults(process.argv.includes('--write'))];
for (const fault of faults) console.error(fault);
console.log(`${ours.length} modules cruised, ${violations.length} violations`);

if (ours.length === 0)
  console.error('No module was cruised: check the versions of dependency-cruiser and TypeScript');
if (ours.length === 0 || unseen.length > 0 || violations.length > 0 || faults.length > 0)
  process.exitCode = 1;

async function cruised(
  files: string[],
  ruleSet: typeof forbidden,
  tsPreCompilationDeps: false | 'specify',
): Promise<ICruiseResult> {
  const { output } = await cruise(
    files,
    { ...options, tsPreCompilationDeps, ruleSet: { forbidden: ruleSet }, validate: true },
    {},
    { tsConfig: extractTSConfig('tsconfig.json') },
  );
  return output as ICruiseResult;
}

function hasSources(room: string): boolean {
  if (room.endsWith('.ts')) return true;
  return readdirSync(room, { recursive: true, encoding: 'utf8' }).some(
    (file) => file.endsWith('.ts') && !/(^|\/)(node_modules|dist|fixtures)\//.test(file),
  );
}

function circles(): string[] {
  return roomsInCircles().map(
    (arrow) => `${arrow}: a room imports only what stands above it in the list of rooms`,
  );
}

/** Every folder of these is a room with a rule. */
function unnamed(): string[] {
  const known = new Set<string>(ROOMS.map(({ room }) => room));
  const folders = ['runtime', 'actors'].flatMap((top) =>
    readdirSync(top, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${top}/${name}`),
  );
  return folders
    .filter((folder) => !known.has(folder))
    .map((folder) => `${folder} is not in the list of rooms`);
}

function tableFaults(mayWrite: boolean): string[] {
  return Object.entries(TABLES_OF_ROOMS).flatMap(([page, tableOfPage]) => {
    const table = tableOfPage();
    const text = readFileSync(page, 'utf8');
    const written = text.replace(
      /(<!-- rooms -->\n\n)[\s\S]*?(\n\n<!-- end of rooms -->)/,
      (_, from: string, to: string) => `${from}${table}${to}`,
    );
    if (!written.includes(table)) return [`${page} has no place for the table of rooms`];
    if (written === text) return [];
    if (!mayWrite) return [`${page}: the table of rooms is another one (npm run docs:rooms)`];
    writeFileSync(page, written);
    return [];
  });
}
