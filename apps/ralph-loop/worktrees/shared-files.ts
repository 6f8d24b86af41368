import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { LinkedWorktree } from './linked-worktree.ts';
import type { Repository } from './repository.ts';

/** Files of git that are not of one worktree alone, or bind it to its repository; each with a hash of what it holds. */
export type SharedFiles = ReadonlyMap<string, string>;

/** `git gc` writes this one anew. */
const WRITTEN_BY_GIT = 'info/refs';

/** Reads the settings, hooks and rules that all worktrees share, and what binds this one to them. */
export async function sharedFiles(
  repository: Repository,
  { path, gitDir }: LinkedWorktree,
): Promise<SharedFiles> {
  const { commonDir } = repository;
  const found = new Map<string, string>();
  for (const name of ['config', 'config.worktree', 'hooks', 'info'])
    await read(commonDir, join(commonDir, name), found);
  for (const name of ['commondir', 'gitdir', 'config.worktree'])
    await read(commonDir, join(gitDir, name), found);
  await read(path, join(path, '.git'), found);
  found.delete(WRITTEN_BY_GIT);
  return found;
}

/** Which of them were added, removed or changed, sorted. */
export function changedShared(before: SharedFiles, after: SharedFiles): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}

async function read(top: string, path: string, into: Map<string, string>): Promise<void> {
  const entry = await lstat(path).catch(() => undefined);
  const name = relative(top, path);
  if (entry === undefined) return;
  if (entry.isDirectory()) for (const inner of await readdir(path)) await read(top, join(path, inner), into);
  else if (entry.isSymbolicLink()) into.set(name, `link ${await readlink(path)}`);
  else if (entry.isFile()) into.set(name, `${entry.mode} ${await hashOf(path)}`);
  else into.set(name, 'neither a file nor a link');
}

const hashOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
