import type { Manifest } from '../packages/manifest.ts';
import type { PackageTree } from '../packages/package-tree.ts';
import type { ManifestFault } from './fault.ts';
import { isCopyleft } from './licences.ts';
import { type Lock, placeOf } from './lock-file.ts';

/** What is needed when the program runs, with all that it needs in turn, and is under a copyleft licence. */
export function checkLicences(lock: Lock, tree: PackageTree): ManifestFault[] {
  const told = new Set<string>();
  return [...lock.packages.keys()].flatMap((place) => {
    const manifest = place.includes('node_modules/')
      ? undefined
      : tree.at(lock.folder + (place && `${place}/`));
    // Whose own licence binds as well has chosen so.
    if (manifest === undefined || isCopyleft(manifest.fields.license ?? '')) return [];
    return faultsOf(lock, place, manifest, told);
  });
}

function faultsOf(lock: Lock, place: string, { file, fields }: Manifest, told: Set<string>): ManifestFault[] {
  const faults: ManifestFault[] = [];
  for (const section of ['dependencies', 'optionalDependencies'] as const) {
    for (const name of Object.keys(fields[section])) {
      for (const { place: reached, licence } of boundBy(lock, name, place, told)) {
        const what = reached.slice(reached.lastIndexOf('node_modules/') + 'node_modules/'.length);
        const through = what === name ? '' : `, which ${name} brings`;
        const message = `${what}${through} is under ${licence}, which binds whatever is published with it`;
        faults.push({ file, path: [section, name], rule: 'dependencies.copyleft', message });
      }
    }
  }
  return faults;
}

/** The packages under copyleft that come with `name`; each is told once. */
function boundBy(
  lock: Lock,
  name: string,
  from: string,
  seen: Set<string>,
): { place: string; licence: string }[] {
  const bound: { place: string; licence: string }[] = [];
  const pending = [placeOf(lock, name, from)];
  while (pending.length > 0) {
    const place = pending.pop();
    const entry = place === undefined ? undefined : lock.packages.get(place);
    if (place === undefined || entry === undefined || seen.has(place)) continue;
    // A package of the repository has a turn of its own.
    if (!place.includes('node_modules/')) continue;
    seen.add(place);
    if (entry.license !== undefined && isCopyleft(entry.license))
      bound.push({ place, licence: entry.license });
    const needed = [...Object.keys(entry.dependencies), ...Object.keys(entry.optionalDependencies)];
    for (const one of needed) pending.push(placeOf(lock, one, place));
  }
  return bound;
}
