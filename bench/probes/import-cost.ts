import { fileURLToPath } from 'node:url';
import { type Build, buildsOfOrrery, ROOT } from '../builds.ts';
import { runChild } from '../child-process.ts';
import type { ImportCost } from '../children/import-cost.ts';
import { installedSizes } from '../installed-size.ts';
import type { Effort, Goal, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';

const CHILD = new URL('../children/import-cost.ts', import.meta.url);
const CHILD_MS = 20_000;
const MOST_RUNS = 7;
const KB = 1_000;
const MB = 1_000_000;

/** What an installation may take: a tool that slips in among the dependencies takes more. */
const atMost = (megabytes: number): Goal => ({ better: 'less', target: megabytes, floor: megabytes });

/** What `import 'orrery'` loads, from source and, when it is built, from `dist`; what an installation takes on disk. */
const importCost: Probe = {
  kind: 'probe',
  name: 'import-cost',
  title: "What import 'orrery' loads, and what is installed",
  read: async (effort: Effort): Promise<readonly Reading[]> => {
    const builds = buildsOfOrrery();
    const readings: Reading[] = [];
    for (const build of builds) readings.push(...(await importReadings(build, effort)));
    return [...readings, ...(await sizeReadings(builds.some(({ label }) => label === 'built')))];
  },
};

async function importReadings({ label, execArgv }: Build, { rounds }: Effort): Promise<Reading[]> {
  const child = async (mode: 'time' | 'count'): Promise<ImportCost> =>
    (await runChild({ module: CHILD, args: [mode], timeoutMs: CHILD_MS, execArgv })) as ImportCost;
  const times: number[] = [];
  for (let run = 0; run < Math.min(rounds, MOST_RUNS); run++) times.push((await child('time')).importMs);
  const { modules, ownModules, bytes } = await child('count');
  return [
    repeatedReading(times, { name: `${label}: time`, unit: 'ms' }),
    {
      name: `${label}: modules`,
      value: modules,
      isExact: true,
      unit: 'files',
      note: `${ownModules} of them ours`,
    },
    { name: `${label}: source text`, value: bytes / KB, isExact: true, unit: 'kB' },
  ];
}

async function sizeReadings(isBuilt: boolean): Promise<Reading[]> {
  const { packageBytes, dependencyBytes, dependencies } = await installedSizes(fileURLToPath(ROOT), isBuilt);
  const ours =
    packageBytes === undefined
      ? []
      : [
          {
            name: 'packed files',
            value: packageBytes / MB,
            isExact: true as const,
            unit: 'MB',
            goal: atMost(6),
          },
        ];
  return [
    ...ours,
    {
      name: 'production dependencies',
      value: dependencyBytes / MB,
      isExact: true,
      unit: 'MB',
      note: `${dependencies} packages`,
      goal: atMost(25),
    },
  ];
}

export const plugin: Plugin = { measurements: [importCost] };
