import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { refused } from 'orrery';
import {
  addWorktree,
  type LinkedWorktree,
  removeWorktree,
  worktreesIn,
  worktreesOf,
} from './linked-worktree.ts';
import type { Repository } from './repository.ts';

/** The name of its folder. Those of attempts end with a number. */
export const MERGED = 'merged';

/**
 * - `slug`        name of the mission, made fit.
 * - `keepIgnored` ignored files, such as installed packages, stay from one merge to the next. @default true
 * - `setup`       makes a new worktree ready.
 */
export interface MergeWorktreeOptions {
  readonly slug: string;
  readonly keepIgnored?: boolean | undefined;
  readonly setup?: ((path: string, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** What came of putting a change onto a commit: a tree, or the files that both have changed. */
export type MergedTree = { readonly tree: string } | { readonly conflicts: readonly string[] };

/** The worktree in which changes are merged and checked, on no branch. */
export class MergeWorktree {
  readonly path: string;
  readonly #repository: Repository;
  readonly #options: MergeWorktreeOptions;

  constructor(repository: Repository, options: MergeWorktreeOptions) {
    this.path = join(worktreesOf(repository, options.slug), MERGED);
    this.#repository = repository;
    this.#options = options;
  }

  get keepsIgnored(): boolean {
    return this.#options.keepIgnored ?? true;
  }

  /**
   * Has the files of a commit, and nothing else but ignored ones, whatever was there. It is made if it is not there, and made
   * anew if it cannot be cleaned.
   */
  async checkOut(commit: string, signal?: AbortSignal): Promise<void> {
    const there = await this.#existing();
    if (there !== undefined && (await this.#clean(there, commit, signal))) return;
    await addWorktree(this.#repository, this.path, { commit, signal });
    await this.#options.setup?.(this.path, signal);
    // What the setup wrote beside ignored files is none of the commit.
    const made = await this.#existing();
    if (made === undefined || !(await this.#clean(made, commit, signal)))
      throw refused(`The worktree ${this.path} cannot be brought to ${commit} after its setup`);
  }

  /** Puts what a commit changed onto the files that are checked out, by a three-way merge. */
  async put(commit: string, signal?: AbortSignal): Promise<MergedTree> {
    const options = { path: this.path, signal };
    // Without a commit: it keeps nothing of the message and of the author.
    const picked = await this.#repository.git(['cherry-pick', '--no-commit', commit], {
      ...options,
      codes: [0, 1],
    });
    if (picked.code === 0) return { tree: await this.#repository.line(['write-tree'], options) };
    const unmerged = await this.#repository.fields(['diff', '--name-only', '--diff-filter=U', '-z'], options);
    if (unmerged.length > 0) return { conflicts: [...new Set(unmerged)].sort() };
    throw refused(`git cherry-pick of ${commit} ended with code ${picked.code}, without a conflict`);
  }

  async remove(): Promise<void> {
    await removeWorktree(this.#repository, this.path);
  }

  /** The tracked files that are not as they are in the commit. */
  async changedFrom(commit: string, signal?: AbortSignal): Promise<string[]> {
    const diff = ['diff', '--name-only', '--no-renames', '--ignore-submodules=dirty', '-z', commit, '--'];
    return await this.#repository.fields(diff, { path: this.path, signal });
  }

  async #clean({ gitDir }: LinkedWorktree, commit: string, signal?: AbortSignal): Promise<boolean> {
    const options = { path: this.path, signal };
    // One process at a time works in it, which is this one: locks are of one that was killed.
    for (const name of ['index', 'HEAD']) await rm(join(gitDir, `${name}.lock`), { force: true });
    try {
      // Not `reset`: it would move the branch that a gate may have checked out.
      await this.#repository.git(['checkout', '--quiet', '--force', '--detach', commit], options);
      const ignored = this.keepsIgnored ? [] : ['-x'];
      await this.#repository.git(['clean', '-ffdq', ...ignored], options);
      return true;
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  }

  /** It, if both the folder and what git keeps of it are there. */
  async #existing(): Promise<LinkedWorktree | undefined> {
    const isLinked = (await lstat(join(this.path, '.git')).catch(() => undefined))?.isFile() ?? false;
    const known = await worktreesIn(this.#repository, join(this.path, '..'));
    return isLinked ? known.find(({ path }) => path === this.path) : undefined;
  }
}
