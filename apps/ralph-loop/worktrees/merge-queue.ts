import type { CodeBranch } from './code-branch.ts';
import { fitName } from './fit-name.ts';
import { type MergeOutcome, type MergeRequest, mergeAttempt, type Verdict } from './merge-attempt.ts';
import { MergeWorktree, type MergeWorktreeOptions } from './merge-worktree.ts';
import type { MissionLock } from './mission-lock.ts';
import type { Repository } from './repository.ts';

/** - `lock` of the mission: no other process merges into its worktree. */
export interface MergeQueueOptions extends Omit<MergeWorktreeOptions, 'slug'> {
  readonly repository: Repository;
  readonly branch: CodeBranch;
  readonly lock: MissionLock;
}

/** Merges attempts one after another, in the order of `merge`. */
export class MergeQueue {
  readonly #options: MergeQueueOptions;
  readonly #worktree: MergeWorktree;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: MergeQueueOptions) {
    this.#options = options;
    const slug = fitName(options.lock.mission);
    this.#worktree = new MergeWorktree(options.repository, { ...options, slug });
  }

  /** Merges when those before are over, however they ended. */
  merge<V extends Verdict>(request: MergeRequest<V>): Promise<MergeOutcome<V>> {
    const { repository, branch, lock } = this.#options;
    const worktree = this.#worktree;
    const merged = this.#last.then(async () => {
      request.signal?.throwIfAborted();
      await lock.check();
      return await mergeAttempt({ repository, branch, worktree }, request);
    });
    this.#last = merged.catch(() => undefined);
    return merged;
  }

  /** Resolves when all merges that were asked for are over, and the worktree in which they were made is gone. */
  async close(): Promise<void> {
    await this.#last;
    await this.#worktree.remove();
  }
}
