import { type CommittedFiles, present } from '../toolchain.ts';

/** A program that installs packages of Node and runs scripts. `setup` installs exactly what its lock file says. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun';
  readonly lockFiles: readonly string[];
  readonly setup?: string;
}

/** The package manager of a repository: by its lock file, else by the field `packageManager`, else npm. */
export function packageManagerOf(files: CommittedFiles, named: unknown): PackageManager {
  const yarn = files.paths.has('.yarnrc.yml') ? 'yarn install --immutable' : 'yarn install --frozen-lockfile';
  const known = [
    { name: 'pnpm', locks: ['pnpm-lock.yaml'], setup: 'pnpm install --frozen-lockfile' },
    { name: 'yarn', locks: ['yarn.lock'], setup: yarn },
    { name: 'bun', locks: ['bun.lock', 'bun.lockb'], setup: 'bun install --frozen-lockfile' },
    { name: 'npm', locks: ['package-lock.json', 'npm-shrinkwrap.json'], setup: 'npm ci' },
  ] as const;
  const own = known.find(({ name }) => typeof named === 'string' && named.startsWith(`${name}@`));
  const all = own === undefined ? known : [own, ...known];
  for (const { name, locks, setup } of all) {
    const lockFiles = present(files, ...locks);
    if (lockFiles.length > 0) return { name, lockFiles, setup };
  }
  return { name: own?.name ?? 'npm', lockFiles: [] };
}
