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

/** Where the snapshot of an attempt is kept. */
export const snapshotRef = (slug: string, task: string, attempt: number): string =>
  `${snapshotsOf(slug)}${fitId(task)}/${attempt}`;

/** Lets go of a snapshot; git forgets its commit some time later. */
export async function dropSnapshot(repository: Repository, ref: string): Promise<void> {
  await repository.git(['update-ref', '-d', ref]);
}
