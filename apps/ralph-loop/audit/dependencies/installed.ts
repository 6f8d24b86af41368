import { readManifest } from '../packages/manifest.ts';
import { readWithin } from '../../findings/read-within.ts';
import { type Lock, placeOf } from './lock-file.ts';

/**
 * What is known of a package that is installed.
 *
 * - `commands`  what it can be called by in a script.
 * - `needs`     packages that it expects beside itself.
 */
export interface Installed {
  readonly commands: readonly string[];
  readonly needs: readonly string[];
}

/** What is known of the package that code in `folder` gets for `name`: by the lock file, else by node_modules. */
export function installed(
  root: string,
  {
    folder,
    name,
    locks,
  }: { readonly folder: string; readonly name: string; readonly locks: readonly Lock[] },
): Installed | undefined {
  for (const lock of locks) {
    if (!folder.startsWith(lock.folder)) continue;
    const place = placeOf(lock, name, folder.slice(lock.folder.length).replace(/\/$/, ''));
    const entry = place === undefined ? undefined : lock.packages.get(place);
    if (entry === undefined) continue;
    return { commands: commandsOf(name, entry.bin), needs: Object.keys(entry.peerDependencies) };
  }
  return unlocked(root, folder, name);
}

function unlocked(root: string, folder: string, name: string): Installed | undefined {
  for (const base of new Set([folder, ''])) {
    const file = `${base}node_modules/${name}/package.json`;
    // pnpm's are links, which may lead anywhere.
    if ('fault' in readWithin(root, file)) continue;
    const read = readManifest(root, file);
    if ('skipped' in read) continue;
    const { bin, peerDependencies } = read.manifest.fields;
    return { commands: commandsOf(name, bin), needs: Object.keys(peerDependencies) };
  }
  return undefined;
}

/** A single command without a name is called like its package, without the scope. */
function commandsOf(name: string, bin: string | Readonly<Record<string, string>> | undefined): string[] {
  if (bin === undefined) return [];
  const own = name.slice(name.indexOf('/') + 1);
  return typeof bin === 'string' ? [own] : Object.keys(bin).map((command) => command || own);
}
