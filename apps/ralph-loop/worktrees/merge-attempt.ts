import { refused } from 'orrery';
import { type CodeBranch, moveBranch, refuseCheckedOut, tipAndTreeOf } from './code-branch.ts';
import { type CommitText, type CommitTrailers, commitMessage } from './commit-message.ts';
import type { MergeWorktree } from './merge-worktree.ts';
import type { Repository } from './repository.ts';
import type { Snapshot } from './snapshot.ts';

/** How often a merge begins again because somebody else moved the branch. */
const MAX_ROUNDS = 5;

/** What is to be checked. - `path` folder with the files. - `tip` commit that it is merged onto. */
export interface Checkout {
  readonly path: string;
  readonly tree: string;
  readonly tip: string;
  readonly commit: string;
  readonly signal: AbortSignal | undefined;
}

/** What a check says: gates add what they have found. */
export interface Verdict {
  readonly isAccepted: boolean;
}

/** - `check` decides on the merged files. They are those of a commit that nobody sees yet. */
export interface MergeRequest<V extends Verdict> {
  readonly snapshot: Pick<Snapshot, 'start' | 'commit'>;
  readonly text: CommitText;
  readonly trailers: CommitTrailers;
  readonly check: (checkout: Checkout) => Promise<V>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What came of a merge. `tip` is where the branch was.
 *
 * - `merged`   it is on the branch as `commit`. `changedByCheck` are tracked files that the check changed; they were put back, and
 *              the commit has what was given to the check.
 * - `empty`    the branch has it already.
 * - `conflict` both have changed the `files`.
 * - `refused`  by the check. `commit` has what was refused, on `tip`.
 */
export type MergeOutcome<V extends Verdict> =
  | {
      readonly kind: 'merged';
      readonly tip: string;
      readonly commit: string;
      readonly tree: string;
      readonly verdict: V;
      readonly changedByCheck: readonly string[];
    }
  | { readonly kind: 'empty'; readonly tip: string }
  | { readonly kind: 'conflict'; readonly tip: string; readonly files: readonly string[] }
  | {
      readonly kind: 'refused';
      readonly tip: string;
      readonly commit: string;
      readonly verdict: V;
      readonly changedByCheck: readonly string[];
    };

/** Where merges are made. */
export interface MergePlace {
  readonly repository: Repository;
  readonly branch: CodeBranch;
  readonly worktree: MergeWorktree;
}

/**
 * Puts an attempt onto the branch as one commit, if it fits and the check accepts the result. Begins again when somebody else has
 * moved the branch, and throws REFUSED when that goes on. One at a time: see `MergeQueue`.
 */
export async function mergeAttempt<V extends Verdict>(
  place: MergePlace,
  request: MergeRequest<V>,
): Promise<MergeOutcome<V>> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const outcome = await mergeOnce(place, request);
    if (outcome !== undefined) return outcome;
  }
  throw refused(
    `The branch ${place.branch.name} was moved by somebody else ${MAX_ROUNDS} times while ${request.trailers.task} was merged; it is left as it is`,
  );
}

/** Undefined: somebody else has moved the branch meanwhile. */
async function mergeOnce<V extends Verdict>(
  place: MergePlace,
  request: MergeRequest<V>,
): Promise<MergeOutcome<V> | undefined> {
  const { repository, branch, worktree } = place;
  const { signal } = request;
  const { tip, tree: tipTree } = await tipAndTreeOf(repository, branch, signal);
  // Where it is not merged, what is left there is cleaned at once.
  let head: string | undefined = tip;
  try {
    await worktree.checkOut(tip, signal);
    const merged = await worktree.put(request.snapshot.commit, signal);
    if ('conflicts' in merged) return { kind: 'conflict', tip, files: merged.conflicts };
    if (merged.tree === tipTree) return { kind: 'empty', tip };
    const commit = await candidate(repository, request, { tree: merged.tree, tip });
    await worktree.checkOut(commit, signal);
    const verdict = await request.check({ path: worktree.path, tree: merged.tree, tip, commit, signal });
    const changedByCheck = await changedSince(worktree, commit, signal);
    if (!verdict.isAccepted) return { kind: 'refused', tip, commit, verdict, changedByCheck };
    await refuseCheckedOut(repository, branch, signal);
    if (!(await moveBranch(repository, branch, { from: tip, to: commit, signal }))) return undefined;
    // What else a check has left goes with the next merge, or with the worktree.
    head = changedByCheck.length > 0 || !worktree.keepsIgnored ? commit : undefined;
    return { kind: 'merged', tip, commit, tree: merged.tree, verdict, changedByCheck };
  } finally {
    if (head !== undefined) await cleaned(worktree, head);
  }
}

/** The commit is made before it is checked, and of a tree that no check can change. */
async function candidate<V extends Verdict>(
  repository: Repository,
  { text, trailers, signal }: MergeRequest<V>,
  { tree, tip }: { readonly tree: string; readonly tip: string },
): Promise<string> {
  const input = commitMessage(text, trailers);
  return await repository.line(['commit-tree', tree, '-p', tip, '-F', '-'], { input, signal });
}

/** Rules of attributes that its files do not keep make some look changed from the first: they are changed still when checked out anew. */
async function changedSince(
  worktree: MergeWorktree,
  commit: string,
  signal?: AbortSignal,
): Promise<string[]> {
  const changed = await worktree.changedFrom(commit, signal);
  if (changed.length === 0) return [];
  await worktree.checkOut(commit, signal);
  const always = new Set(await worktree.changedFrom(commit, signal));
  return changed.filter((path) => !always.has(path));
}

/** The next merge cleans the worktree anyway: what is decided does not depend on this. */
async function cleaned(worktree: MergeWorktree, commit: string): Promise<void> {
  try {
    await worktree.checkOut(commit);
  } catch {
    return;
  }
}
