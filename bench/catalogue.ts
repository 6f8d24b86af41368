import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pluginInvalid } from './bench-error.ts';
import type { UsedPackage } from './machine/versions.ts';
import type { Comparison, Contender, Measurement, Probe, Race } from './measurement.ts';
import { loadPlugin, type Plugin } from './plugin.ts';

/** A contender, and the plug-in that a process loads to open it. */
export interface CataloguedContender {
  readonly name: string;
  readonly packages: readonly string[];
  readonly plugin: URL;
}

/** A race with the contenders of all plug-ins. */
export interface CataloguedRace extends Omit<Race, 'contenders'> {
  readonly contenders: readonly CataloguedContender[];
}

/** A probe, and the plug-in that a process loads to read it. */
export interface CataloguedProbe extends Omit<Probe, 'read'> {
  readonly plugin: URL;
}

export type CataloguedMeasurement = CataloguedRace | CataloguedProbe;

/** A plug-in and where it is. */
export interface LoadedPlugin {
  readonly file: URL;
  readonly plugin: Plugin;
}

/** What `npm run bench` measures: each file in `races/` and `probes/` is a plug-in, and so are the `others`. */
export async function loadCatalogue(others: readonly URL[]): Promise<readonly CataloguedMeasurement[]> {
  // Those of others first: what is wrong with them is told at once.
  const added = await loadAll(others);
  const own = await loadAll([...filesIn('./races/'), ...filesIn('./probes/')]);
  return joined([...own, ...added]);
}

async function loadAll(files: readonly URL[]): Promise<readonly LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  for (const file of files) loaded.push({ file, plugin: await loadPlugin(file) });
  return loaded;
}

function filesIn(folder: string): readonly URL[] {
  const url = new URL(folder, import.meta.url);
  return readdirSync(url)
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => new URL(name, url));
}

/** All measurements, with the entrants in their races; fails with PLUGIN_INVALID where names clash or lead nowhere. */
export function joined(loaded: readonly LoadedPlugin[]): readonly CataloguedMeasurement[] {
  const measurements = new Map<string, CataloguedMeasurement>();
  for (const { file, plugin } of loaded) {
    for (const [at, measurement] of (plugin.measurements ?? []).entries()) {
      const field = `plugin.measurements[${at}]`;
      if (measurements.has(measurement.name))
        throw fault(file, `${field}.name is "${measurement.name}", which another measurement is called`);
      measurements.set(measurement.name, catalogued(measurement, file, field));
    }
  }
  for (const { file, plugin } of loaded) {
    for (const [at, { race: name, contender, comparisons = [] }] of (plugin.entrants ?? []).entries()) {
      const field = `plugin.entrants[${at}]`;
      const race = measurements.get(name);
      if (race?.kind !== 'race') throw fault(file, `${field}.race is "${name}", which is no race`);
      const entered = entrantIn({ contender, file, field: `${field}.contender` }, race.contenders);
      requireContenders(comparisons, entered, { file, field });
      measurements.set(name, {
        ...race,
        contenders: entered,
        comparisons: [...race.comparisons, ...comparisons],
      });
    }
  }
  return [...measurements.values()];
}

const fault = (file: URL, text: string): Error => pluginInvalid(fileURLToPath(file), text);

function catalogued(measurement: Measurement, file: URL, field: string): CataloguedMeasurement {
  if (measurement.kind === 'probe') {
    const { kind, name, title } = measurement;
    return { kind, name, title, plugin: file };
  }
  const contenders = measurement.contenders.reduce<readonly CataloguedContender[]>(
    (others, contender, at) => entrantIn({ contender, file, field: `${field}.contenders[${at}]` }, others),
    [],
  );
  requireContenders(measurement.comparisons, contenders, { file, field });
  return { ...measurement, contenders };
}

interface Entering {
  readonly contender: Contender;
  readonly file: URL;
  readonly field: string;
}

function entrantIn(
  { contender, file, field }: Entering,
  others: readonly CataloguedContender[],
): readonly CataloguedContender[] {
  const { name, packages = [] } = contender;
  if (others.some((other) => other.name === name))
    throw fault(file, `${field}.name is "${name}", which another contender of the race is called`);
  return [...others, { name, packages, plugin: file }];
}

function requireContenders(
  comparisons: readonly Comparison[],
  contenders: readonly CataloguedContender[],
  { file, field }: { readonly file: URL; readonly field: string },
): void {
  for (const [at, comparison] of comparisons.entries()) {
    for (const role of ['contender', 'baseline'] as const) {
      if (contenders.some(({ name }) => name === comparison[role])) continue;
      const path = `${field}.comparisons[${at}].${role}`;
      throw fault(file, `${path} is "${comparison[role]}", which is no contender of the race`);
    }
  }
}

/** The packages whose code these measurements run, each once. */
export function packagesOf(measurements: readonly CataloguedMeasurement[]): readonly UsedPackage[] {
  const contenders = measurements.flatMap((one) => (one.kind === 'race' ? one.contenders : []));
  const used = contenders.flatMap(({ packages, plugin }) =>
    packages.map((name): [string, UsedPackage] => [name, { name, from: plugin }]),
  );
  return [...new Map(used).values()];
}
