import { satisfies, validRange } from 'semver';
import type { Manifest } from '../packages/manifest.ts';
import type { PackageTree } from '../packages/package-tree.ts';
import { declaredIn, type Declared } from '../packages/sections.ts';
import type { ManifestFault } from './fault.ts';
import { type Lock, type LockEntry, placeOf } from './lock-file.ts';

/** Where the packages of the repository, and what they ask for, are not what the lock file was made for. */
export function checkDrift(lock: Lock, tree: PackageTree, workspaces: readonly Manifest[]): ManifestFault[] {
  const locked = [...lock.packages].filter(([place]) => !/(^|\/)node_modules\//.test(place));
  const faults = locked.flatMap(([place, entry]) => {
    const manifest = tree.at(lock.folder + (place === '' ? '' : `${place}/`));
    return manifest === undefined ? [] : faultsOf(lock, place, entry, manifest);
  });
  return [...faults, ...unknownWorkspaces(lock, workspaces)];
}

function faultsOf(lock: Lock, place: string, entry: LockEntry, manifest: Manifest): ManifestFault[] {
  const declared = declaredIn(manifest.fields);
  const fault = ({ section, name }: Pick<Declared, 'section' | 'name'>, message: string): ManifestFault => ({
    file: manifest.file,
    path: [section, name],
    rule: 'dependencies.lock-drift',
    message,
  });
  const known = rangesIn(entry);
  const faults = declared.flatMap((one) => {
    const ranges = known.get(one.name);
    if (ranges === undefined) return [fault(one, `${one.name} is not in ${lock.file}`)];
    if (!ranges.includes(one.range)) {
      return [
        fault(one, `${one.name} is ${one.range} here; ${lock.file} was made for ${ranges.join(' and ')}`),
      ];
    }
    const version = unfit(lock, place, one);
    return version === undefined
      ? []
      : [fault(one, `${one.name} is ${one.range} here; ${lock.file} has ${version}`)];
  });
  const names = new Set(declared.map(({ name }) => name));
  const left = [...known.keys()].filter((name) => !names.has(name));
  const gone = left.map((name) =>
    fault({ section: 'dependencies', name }, `${lock.file} still has ${name}, which is gone here`),
  );
  return [...faults, ...gone];
}

/** Every range that the lock file was made for, by name: npm keeps one of several sections, and not always the same. */
function rangesIn(entry: LockEntry): Map<string, string[]> {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = entry;
  const ranges = new Map<string, string[]>();
  for (const section of [dependencies, devDependencies, optionalDependencies, peerDependencies]) {
    for (const [name, range] of Object.entries(section))
      ranges.set(name, [...(ranges.get(name) ?? []), range]);
  }
  return ranges;
}

/** The installed version, if the range does not allow it. */
function unfit(lock: Lock, from: string, { section, name, range }: Declared): string | undefined {
  // Peers are chosen by whoever installs, and may be overridden.
  if (section === 'peerDependencies' || validRange(range) === null) return undefined;
  const place = placeOf(lock, name, from);
  const version = place === undefined ? undefined : lock.packages.get(place)?.version;
  if (version === undefined || satisfies(version, range, { includePrerelease: true })) return undefined;
  return version;
}

function unknownWorkspaces(
  { file, folder, packages }: Lock,
  workspaces: readonly Manifest[],
): ManifestFault[] {
  if (folder !== '') return [];
  return workspaces
    .filter((manifest) => !packages.has(manifest.folder.slice(0, -1)))
    .map((manifest) => ({
      file: manifest.file,
      path: ['name'],
      rule: 'dependencies.lock-drift',
      message: `The workspace ${manifest.folder.slice(0, -1)} is not in ${file}`,
    }));
}
