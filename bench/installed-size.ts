import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Bytes on disk of what `npm install orrery` brings. `packageBytes` is unknown until it is built. */
export interface InstalledSizes {
  readonly packageBytes: number | undefined;
  readonly dependencyBytes: number;
  readonly dependencies: number;
}

/** Adds up the tarball's files, as npm would pack them, and the installed production dependencies; nothing is fetched. */
export async function installedSizes(root: string, isBuilt: boolean): Promise<InstalledSizes> {
  const folders = productionFolders(root);
  return {
    packageBytes: isBuilt ? await packedBytes(root) : undefined,
    dependencyBytes: folders.reduce((sum, folder) => sum + bytesIn(folder), 0),
    dependencies: folders.length,
  };
}

async function packedBytes(root: string): Promise<number> {
  const args = ['pack', './dist', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, timeout: 30_000 });
  const packed = JSON.parse(stdout) as { unpackedSize: number }[] | Record<string, { unpackedSize: number }>;
  return Object.values(packed)[0]?.unpackedSize ?? 0;
}

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** The folder of every production dependency, found as Node would find it. */
function productionFolders(root: string): readonly string[] {
  const found = new Set<string>();
  const visit = (folder: string): void => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const target = resolveFolder(folder, name);
      if (target === undefined || found.has(target)) continue;
      found.add(target);
      visit(target);
    }
  };
  visit(root);
  return [...found];
}

/** Optional dependencies of other platforms are not installed: undefined. */
function resolveFolder(from: string, name: string): string | undefined {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  return dirname(from) === from ? undefined : resolveFolder(dirname(from), name);
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !nested(folder, entry.parentPath))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** A dependency inside a dependency is a folder of its own in the sum. */
const nested = (folder: string, path: string): boolean => path.slice(folder.length).includes('node_modules');
