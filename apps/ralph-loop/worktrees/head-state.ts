import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LinkedWorktree } from './linked-worktree.ts';
import type { Repository } from './repository.ts';

/**
 * What was done with git in a worktree.
 *
 * - `branch`     that it is on now; it begins on none.
 * - `head`       its commit; absent on a branch without commits.
 * - `commits`    that were made since it began, as far as they are still there.
 * - `unfinished` what was begun and not ended.
 */
export interface HeadState {
  readonly branch?: string;
  readonly head?: string;
  readonly commits: number;
  readonly unfinished?: 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect';
}

const SIGNS = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
] as const;

/** Reads what was done with git in a worktree that began at the commit `start`. */
export async function headState(
  repository: Repository,
  worktree: LinkedWorktree,
  since: { readonly start: string; readonly signal?: AbortSignal | undefined },
): Promise<HeadState> {
  const moved = (await isAt(worktree, since.start))
    ? { head: since.start, commits: 0 }
    : await movedHead(repository, worktree, since);
  const unfinished = await signOf(worktree.gitDir);
  return { ...moved, ...(unfinished !== undefined && { unfinished }) };
}

/** Whether it is where it began, on no branch: most agents leave that as it is, and git need not be asked. */
const isAt = async ({ gitDir }: LinkedWorktree, start: string): Promise<boolean> =>
  (await readFile(join(gitDir, 'HEAD'), 'utf8').catch(() => '')) === `${start}\n`;

async function movedHead(
  repository: Repository,
  { path }: LinkedWorktree,
  { start, signal }: { readonly start: string; readonly signal?: AbortSignal | undefined },
): Promise<Omit<HeadState, 'unfinished'>> {
  const on = await repository.git(['symbolic-ref', '--quiet', '--short', 'HEAD'], {
    path,
    signal,
    codes: [0, 1],
  });
  const branch = on.bytes.toString('utf8').trim();
  const head = await repository.commitOf('HEAD', { path, signal });
  const made =
    head === undefined
      ? '0'
      : await repository.line(['rev-list', '--count', `${start}..${head}`], { signal });
  return {
    commits: Number(made),
    ...(branch !== '' && { branch }),
    ...(head !== undefined && { head }),
  };
}

async function signOf(gitDir: string): Promise<HeadState['unfinished']> {
  for (const [name, sign] of SIGNS) {
    const isThere = await access(join(gitDir, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return sign;
  }
  return undefined;
}
