import { chmod, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { refused } from 'orrery';
import { OWN_FOLDER } from './exclude-own-files.ts';
import type { Repository } from './repository.ts';

/** How often git is asked about worktrees while one of them is half made: a process each time, so that a slow machine waits longer. */
const MAX_TRIES = 100;

/**
 * What git says when what it keeps of a worktree is half made, or goes away while it reads that: an empty file is read without an
 * error, which is named all the same.
 */
const HALF_THERE =
  /(?:failed to read|Invalid path) '?(.*worktrees\/[^/']+).*: (?:Success|Undefined error: 0|No such file or directory)/;

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
  await askOfWorktrees(repository, ['add', '--quiet', '--detach', path, commit], signal);
  const [gitDir] = await gitDirsOf(repository, path);
  if (gitDir === undefined) throw refused(`git has made no worktree at ${path}`);
  return { path, gitDir };
}

/** Where each worktree of the repository is and what it has checked out, as `git worktree list --porcelain` says it. */
export const listWorktrees = (repository: Repository, signal?: AbortSignal): Promise<string> =>
  askOfWorktrees(repository, ['list', '--porcelain'], signal);

/**
 * Runs `git worktree`, which reads what git keeps of every worktree first and gives up where one is half made or half removed: by
 * another task of the mission, by an agent, or by the user. That is over within moments, and it has changed nothing yet: it is run again.
 */
async function askOfWorktrees(
  repository: Repository,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string> {
  for (let tries = 1; ; tries += 1)
    try {
      return await repository.line(['worktree', ...args], { signal });
    } catch (error) {
      const [said, gitDir] = HALF_THERE.exec((error as Error).message) ?? [];
      if (gitDir === undefined) throw error;
      if (tries < MAX_TRIES) continue;
      throw refused(
        `git works with no worktree, since the folder ${gitDir} is only half there (${said}): whoever made it was ended within that moment. Remove it`,
      );
    }
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

/** Forgets worktrees in a folder that are half made, as a git that was killed leaves them: git would not work with any other. */
export async function forgetHalfMade(repository: Repository, folder: string): Promise<void> {
  for (const { gitDir } of await worktreesIn(repository, folder)) {
    const common = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => '');
    if (common === '') await removeFolder(gitDir);
  }
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
