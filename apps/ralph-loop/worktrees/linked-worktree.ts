import { chmod, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refused } from 'orrery';
import { OWN_FOLDER } from './exclude-own-files.ts';
import type { Repository } from './repository.ts';

/** The folder of a mission's worktrees. `slug` is its name made fit. */
export const worktreesOf = (repository: Repository, slug: string): string =>
  join(repository.root, OWN_FOLDER, 'worktrees', slug);

/** A worktree of the repository, and what git keeps of it. */
export interface LinkedWorktree {
  readonly path: string;
  readonly gitDir: string;
}

/** Adds a worktree at a commit, on no branch. What was there before is removed. */
export async function addWorktree(
  repository: Repository,
  path: string,
  { commit, signal }: { readonly commit: string; readonly signal?: AbortSignal | undefined },
): Promise<LinkedWorktree> {
  await removeWorktree(repository, path);
  const parent = dirname(path);
  await mkdir(parent, { recursive: true });
  if ((await realpath(parent)) !== parent)
    throw refused(
      `The folder ${parent} lies behind a link; remove the link, so that worktrees stay in the repository`,
    );
  await repository.git(['worktree', 'add', '--quiet', '--detach', path, commit], { signal });
  const [gitDir] = await gitDirsOf(repository, path);
  if (gitDir === undefined) throw refused(`git has made no worktree at ${path}`);
  return { path, gitDir };
}

/**
 * Removes a worktree, however it was left: locked, half made, without its link to the repository, or not to be written.
 *
 * It is not done with `git worktree prune`, which also forgets worktrees of the user's whose disk is not there just now.
 */
export async function removeWorktree(repository: Repository, path: string): Promise<void> {
  await removeFolder(path);
  for (const gitDir of await gitDirsOf(repository, path)) await removeFolder(gitDir);
}

/** The worktrees that git knows of in a folder, whether they are there or not. */
export async function worktreesIn(repository: Repository, folder: string): Promise<LinkedWorktree[]> {
  const all = await allWorktrees(repository);
  return all.filter(({ path }) => path.startsWith(`${folder}/`));
}

/** Removes a folder with all that is in it, also when its folders may not be written. Follows no link. */
export async function removeFolder(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 } as const;
  try {
    await rm(path, options);
  } catch {
    await makeWritable(path);
    await rm(path, options);
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}

async function gitDirsOf(repository: Repository, path: string): Promise<string[]> {
  const all = await allWorktrees(repository);
  return all.filter((worktree) => worktree.path === path).map(({ gitDir }) => gitDir);
}

/** Git keeps a folder of each, in which `gitdir` names the file `.git` of the worktree. */
async function allWorktrees(repository: Repository): Promise<LinkedWorktree[]> {
  const folder = join(repository.commonDir, 'worktrees');
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const link = await readFile(join(folder, name, 'gitdir'), 'utf8').catch(() => '');
      return { path: dirname(link.replace(/\n$/, '')), gitDir: join(folder, name) };
    }),
  );
  return found;
}
