import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { refused } from 'orrery';
import { type CommitText, type CommitTrailers, commitMessage } from './commit-message.ts';
import { fitId, fitName } from './fit-name.ts';
import { headState } from './head-state.ts';
import { addWorktree, removeWorktree, worktreesOf } from './linked-worktree.ts';
import type { Repository } from './repository.ts';
import { changedShared, type SharedFiles, sharedFiles } from './shared-files.ts';
import { type Snapshot, snapshotRef } from './snapshot.ts';
import { type FreshWorktree, freshWorktree, treeOfFiles } from './take-snapshot.ts';

/**
 * - `from`     commit that the attempt begins at.
 * - `files`    commit whose files it finds, as changes of its own: what an attempt before has left.
 * - `trailers` say which attempt it is.
 */
export interface AttemptWorktreeOptions {
  readonly repository: Repository;
  readonly trailers: CommitTrailers;
  readonly from: string;
  readonly files?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The id of a commit; git says itself if there is none. */
const WHOLE_ID = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** The git worktree of one attempt at a task, on no branch. */
export class AttemptWorktree {
  readonly path: string;
  readonly start: string;
  readonly #repository: Repository;
  readonly #trailers: CommitTrailers;
  readonly #fresh: FreshWorktree;
  readonly #shared: SharedFiles;
  /** The link to the repository: without it git would take the user's own files for those of the attempt. */
  readonly #link: string;

  private constructor(
    { repository, trailers }: AttemptWorktreeOptions,
    made: { readonly fresh: FreshWorktree; readonly shared: SharedFiles; readonly link: string },
  ) {
    this.path = made.fresh.path;
    this.start = made.fresh.start;
    this.#repository = repository;
    this.#trailers = trailers;
    this.#fresh = made.fresh;
    this.#shared = made.shared;
    this.#link = made.link;
  }

  /** Makes the worktree. What an attempt of the same name left is removed. */
  static async create(options: AttemptWorktreeOptions): Promise<AttemptWorktree> {
    const { repository, trailers, from, files, signal } = options;
    const start = WHOLE_ID.test(from) ? from : await repository.commitOf(from, { signal });
    if (start === undefined)
      throw refused(`The attempt is to begin at ${JSON.stringify(from)}, which names no commit`);
    const name = `${fitId(trailers.task)}-${trailers.attempt}`;
    const path = join(worktreesOf(repository, fitName(trailers.mission)), name);
    try {
      const worktree = await addWorktree(repository, path, { commit: start, signal });
      const fresh = await freshWorktree(repository, worktree, { start, signal });
      // Staged: what git ignores and an attempt added all the same stays added.
      if (files !== undefined)
        await repository.git(['read-tree', '--reset', '-u', `${files}^{tree}`], { path, signal });
      const link = await readFile(join(path, '.git'), 'utf8');
      return new AttemptWorktree(options, { fresh, link, shared: await sharedFiles(repository, worktree) });
    } catch (error) {
      await removeAll(repository, path);
      throw error;
    }
  }

  /**
   * Which files of git itself were changed since the worktree was made: settings, hooks, rules, and its link to the repository.
   * They act on all worktrees and on the user. Ask before `snapshot`, which runs git under these settings.
   */
  async tampered(): Promise<string[]> {
    return changedShared(this.#shared, await sharedFiles(this.#repository, this.#fresh));
  }

  /**
   * Makes one commit of all that is in the worktree, and keeps it. Throws REFUSED when the worktree is gone, or there is a
   * repository within it that would be lost.
   */
  async snapshot(text: CommitText, signal?: AbortSignal): Promise<Snapshot> {
    await this.#refuseUnlinked();
    const repository = this.#repository;
    const { start, path } = this;
    const { mission, task, attempt } = this.#trailers;
    const { tree, changed } = await treeOfFiles(repository, this.#fresh, signal);
    const head = await headState(repository, this.#fresh, { start, signal });
    const input = commitMessage(text, this.#trailers);
    const commit = await repository.line(['commit-tree', tree, '-p', start, '-F', '-'], { input, signal });
    const ref = snapshotRef(fitName(mission), task, attempt);
    await repository.git(['update-ref', '-m', `orrery: snapshot of ${path}`, ref, commit], { signal });
    return { start, commit, tree, ref, isEmpty: changed.length === 0, changed, head };
  }

  /** Paths that differ now from where the attempt began, but for ignored ones; none when the worktree is gone. */
  async liveChanges(signal?: AbortSignal): Promise<string[]> {
    if (!(await this.#isLinked())) return [];
    const options = { path: this.path, signal };
    const tracked = await this.#repository.fields(
      ['diff', '--name-only', '--no-renames', '-z', this.start, '--'],
      options,
    );
    const others = await this.#repository.fields(
      ['ls-files', '--others', '--exclude-standard', '-z'],
      options,
    );
    return [...new Set([...tracked, ...others])].sort();
  }

  /** Removes the worktree, however it was left. Its snapshot stays. */
  async discard(): Promise<void> {
    await removeAll(this.#repository, this.path);
  }

  async #refuseUnlinked(): Promise<void> {
    if (await this.#isLinked()) return;
    throw refused(
      `The worktree ${this.path} is gone, or no longer bound to its repository: the attempt removed or changed it`,
    );
  }

  async #isLinked(): Promise<boolean> {
    const file = join(this.path, '.git');
    const isFile = (await lstat(file).catch(() => undefined))?.isFile() ?? false;
    const isHere = (await lstat(this.path).catch(() => undefined))?.isDirectory() ?? false;
    return isFile && isHere && (await readFile(file, 'utf8').catch(() => '')) === this.#link;
  }
}

async function removeAll(repository: Repository, path: string): Promise<void> {
  await removeWorktree(repository, path);
  for (const file of ['.index', '.snapshot', '.snapshot.lock']) await rm(`${path}${file}`, { force: true });
}
