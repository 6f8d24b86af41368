import { changedFiles, MAX_CHANGED } from './git/changed-files.ts';
import { type Commit, parseCommit } from './git/commit.ts';
import type { GitRepository } from './git/git-repository.ts';

/** Commits that are looked at; merges, which change nothing themselves, are not counted. */
export const LOOKED_AT = 200;
/** Merges and others that are passed on the way there. */
const MAX_PASSED = 5_000;

/** What one commit changed. */
export interface Change {
  readonly subject: string;
  readonly files: readonly string[];
}

/**
 * - `changes`    newest first; neither merges, nor the first commit, nor those that touch more than a thousand files.
 * - `isCutOff`   whether older commits, or parts of some, are missing from the repository.
 */
export interface History {
  readonly changes: readonly Change[];
  readonly isCutOff: boolean;
}

/** Reads the last commits that lead to `head`, newest first by their times. */
export function readHistory(repository: GitRepository, head: string, advance: () => void): History {
  const changes: Change[] = [];
  const shallow = repository.shallowCommits();
  let isCutOff = false;
  for (const commit of commitsFrom(repository, head, () => (isCutOff = true))) {
    if (changes.length >= LOOKED_AT) break;
    const [parent, ...others] = commit.parents;
    if (shallow.has(commit.name)) isCutOff = true;
    if (parent === undefined || others.length > 0 || shallow.has(commit.name)) continue;
    const files = filesOf(repository, commit, parent);
    if (files === undefined) isCutOff = true;
    else if (files.length <= MAX_CHANGED) {
      changes.push({ subject: commit.subject, files });
      advance();
    }
  }
  return { changes, isCutOff };
}

function filesOf(repository: GitRepository, commit: Commit, parent: string): string[] | undefined {
  const before = commitNamed(repository, parent);
  return before && changedFiles(repository, before.tree, commit.tree);
}

function commitNamed(repository: GitRepository, name: string): Commit | undefined {
  const object = repository.object(name);
  return object && parseCommit(name, object);
}

/** As `git log` shows them: each commit once, the newest of those whose turn it may be. */
function* commitsFrom(repository: GitRepository, head: string, missing: () => void): Generator<Commit> {
  const seen = new Set<string>();
  const waiting: Commit[] = [];
  const shallow = repository.shallowCommits();
  const take = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const commit = commitNamed(repository, name);
    if (commit === undefined) missing();
    else waiting.push(commit);
  };
  take(head);
  for (let passed = 0; waiting.length > 0 && passed < MAX_PASSED; passed++) {
    waiting.sort((a, b) => a.atMs - b.atMs);
    const commit = waiting.pop() as Commit;
    yield commit;
    if (!shallow.has(commit.name)) commit.parents.forEach(take);
  }
}
