import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runChild } from '../child-process.ts';
import type { ImportCost } from '../children/import-cost.ts';
import { installedSizes } from '../installed-size.ts';
import type { Effort, Probe, Reading } from '../measurement.ts';
import { spreadOf } from '../statistics.ts';

const ROOT = new URL('../../', import.meta.url);
const CHILD = new URL('../children/import-cost.ts', import.meta.url);
const SOURCE = '--conditions=orrery-source';
const CHILD_MS = 20_000;
const MOST_RUNS = 7;
const KB = 1_000;
const MB = 1_000_000;

/** What `import 'orrery'` loads, from source and, when it is built, from `dist`; what an installation takes on disk. */
export const importCost: Probe = {
  kind: 'probe',
  name: 'import-cost',
  title: "What import 'orrery' loads, and what is installed",
  read: async (effort: Effort): Promise<readonly Reading[]> => {
    const isBuilt = existsSync(new URL('dist/index.js', ROOT));
    return [
      ...(await importReadings('from source', [SOURCE], effort)),
      ...(isBuilt ? await importReadings('built', [], effort) : []),
      ...(await sizeReadings(isBuilt)),
    ];
  },
};

async function importReadings(
  label: string,
  flags: readonly string[],
  { rounds }: Effort,
): Promise<Reading[]> {
  const child = (mode: 'time' | 'count') =>
    runChild({ module: CHILD, args: [mode], timeoutMs: CHILD_MS, execArgv: flags }) as Promise<ImportCost>;
  const times: number[] = [];
  for (let run = 0; run < Math.min(rounds, MOST_RUNS); run++) times.push((await child('time')).importMs);
  const { modules, ownModules, bytes } = await child('count');
  return [
    { name: `${label}: time`, value: spreadOf(times).median, unit: 'ms' },
    { name: `${label}: modules`, value: modules, unit: 'files', note: `${ownModules} of them ours` },
    { name: `${label}: source text`, value: bytes / KB, unit: 'kB' },
  ];
}

async function sizeReadings(isBuilt: boolean): Promise<Reading[]> {
  const { packageBytes, dependencyBytes, dependencies } = await installedSizes(fileURLToPath(ROOT), isBuilt);
  const ours =
    packageBytes === undefined ? [] : [{ name: 'packed files', value: packageBytes / MB, unit: 'MB' }];
  return [
    ...ours,
    {
      name: 'production dependencies',
      value: dependencyBytes / MB,
      unit: 'MB',
      note: `${dependencies} packages`,
    },
  ];
}
