import type { ChangedFile } from './changed-file.ts';
import { fitId } from './fit-name.ts';
import type { HeadState } from './head-state.ts';
import type { Repository } from './repository.ts';

/**
 * All that an attempt changed, as one commit.
 *
 * - `start`   commit that the attempt began at, and its parent.
 * - `ref`     keeps the commit until `dropSnapshot`.
 * - `isEmpty` nothing was changed.
 * - `head`    what the attempt did with git itself.
 */
export interface Snapshot {
  readonly start: string;
  readonly commit: string;
  readonly tree: string;
  readonly ref: string;
  readonly isEmpty: boolean;
  readonly changed: readonly ChangedFile[];
  readonly head: HeadState;
}

/** Where the snapshots of a mission are kept. `slug` is its name made fit. */
export const snapshotsOf = (slug: string): string => `refs/orrery/${slug}/`;

/** Where it is kept which commit the branch began at, for each run of a mission. */
export const basesOf = (slug: string): string => `refs/orrery-base/${slug}/`;

/** Where the snapshot of an attempt is kept. */
export const snapshotRef = (slug: string, task: string, attempt: number): string =>
  `${snapshotsOf(slug)}${fitId(task)}/${attempt}`;

/** Where the snapshots are kept of tasks that came to nothing, for whoever wants to look. */
export const leftoversOf = (slug: string): string => `refs/orrery-left/${slug}/`;

/** The refs that begin so. */
export async function refsIn(repository: Repository, prefix: string): Promise<string[]> {
  const refs = await repository.line(['for-each-ref', '--format=%(refname)', prefix]);
  return refs.split('\n').filter((ref) => ref !== '');
}

/** Lets go of all snapshots of a task. */
export async function dropSnapshotsOf(repository: Repository, slug: string, task: string): Promise<void> {
  for (const ref of await refsIn(repository, `${snapshotsOf(slug)}${fitId(task)}/`))
    await dropSnapshot(repository, ref);
}

/** Keeps the snapshots of a task as leftovers, and lets go of them as attempts that could be gone on with. */
export async function leaveSnapshotsOf(repository: Repository, slug: string, task: string): Promise<void> {
  for (const ref of await refsIn(repository, `${snapshotsOf(slug)}${fitId(task)}/`)) {
    await repository.git(['update-ref', ref.replace(snapshotsOf(slug), leftoversOf(slug)), ref]);
    await dropSnapshot(repository, ref);
  }
}

/** Lets go of a snapshot; git forgets its commit some time later. */
export async function dropSnapshot(repository: Repository, ref: string): Promise<void> {
  await repository.git(['update-ref', '-d', ref]);
}
