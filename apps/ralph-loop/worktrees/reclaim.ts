import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type AcceptedTask, acceptedTasks, type CodeBranch } from './code-branch.ts';
import { type CommitTrailers, readTrailers, TRAILERS_FORMAT, trailerValue } from './commit-message.ts';
import { fitName } from './fit-name.ts';
import { removeFolder, removeWorktree, worktreesIn, worktreesOf } from './linked-worktree.ts';
import { MERGED } from './merge-worktree.ts';
import type { MissionLock } from './mission-lock.ts';
import type { Repository } from './repository.ts';
import { dropSnapshot, leftoversOf, refsIn, snapshotsOf } from './snapshot.ts';
import { isThere, removeStaleLocks } from './stale-locks.ts';

/** An attempt whose work was kept, and is not on the branch. - `start` commit that it began at. */
export interface KeptAttempt extends CommitTrailers {
  readonly start: string;
  readonly commit: string;
  readonly ref: string;
}

/**
 * What a process left that ended in the middle of a mission.
 *
 * - `accepted` tasks that are on the branch.
 * - `kept`     attempts of this run that may be merged without being done again.
 * - `removed`  what was removed: folders, lock files and refs.
 * - `locks`    lock files of git that are there and not only ours; git says no until whoever holds them ends, or they are removed.
 */
export interface Reclaimed {
  readonly accepted: readonly AcceptedTask[];
  readonly kept: readonly KeptAttempt[];
  readonly removed: readonly string[];
  readonly locks: readonly string[];
}

/** Cleans up after a process that ended in the middle of a mission. It has to be before the first attempt of this one. */
export async function reclaim(
  repository: Repository,
  {
    branch,
    lock,
    run,
    signal,
  }: {
    readonly branch: CodeBranch;
    readonly lock: MissionLock;
    readonly run: string;
    readonly signal?: AbortSignal;
  },
): Promise<Reclaimed> {
  await lock.check();
  const slug = fitName(lock.mission);
  const locks = await removeStaleLocks(repository, { ref: branch.ref, slug });
  const folders = await removeWorktrees(repository, slug);
  const accepted = await acceptedTasks(repository, branch, {
    mission: lock.mission,
    run,
    ...(signal && { signal }),
  });
  const { kept, dropped } = await sift(repository, { slug, accepted, run, mission: lock.mission });
  for (const ref of dropped) await dropSnapshot(repository, ref);
  const common = join(repository.commonDir, 'packed-refs.lock');
  return {
    accepted,
    kept,
    removed: [...locks, ...folders, ...dropped],
    locks: (await isThere(common)) ? [common] : [],
  };
}

/** All but the worktree that is merged in, whose ignored files were costly to make; it is cleaned when it is used. */
async function removeWorktrees(repository: Repository, slug: string): Promise<string[]> {
  const folder = worktreesOf(repository, slug);
  const listed = (await worktreesIn(repository, folder)).map(({ path }) => path);
  const left = (await readdir(folder).catch(() => [])).map((name) => join(folder, name));
  const stale = [...new Set([...listed, ...left])].filter(
    (path) => path !== join(folder, MERGED) && path !== join(folder, 'lock'),
  );
  for (const path of stale) {
    await removeWorktree(repository, path);
    await removeFolder(path);
  }
  return stale.sort();
}

/** Snapshots of tasks that are on the branch, and of other runs, are not needed any more. */
async function sift(
  repository: Repository,
  of: {
    readonly slug: string;
    readonly mission: string;
    readonly run: string;
    readonly accepted: readonly AcceptedTask[];
  },
): Promise<{ kept: KeptAttempt[]; dropped: string[] }> {
  const kept: KeptAttempt[] = [];
  const dropped: string[] = [];
  for (const ref of await refsIn(repository, snapshotsOf(of.slug))) {
    const found = await keptAt(repository, ref);
    const isWanted =
      found !== undefined &&
      found.run === trailerValue(of.run) &&
      found.mission === trailerValue(of.mission) &&
      !of.accepted.some(({ task }) => task === found.task);
    if (isWanted) kept.push(found);
    else dropped.push(ref);
  }
  for (const ref of await refsIn(repository, leftoversOf(of.slug)))
    if ((await keptAt(repository, ref))?.run !== trailerValue(of.run)) dropped.push(ref);
  return { kept, dropped };
}

async function keptAt(repository: Repository, ref: string): Promise<KeptAttempt | undefined> {
  const said = await repository.git(['log', '-1', '-z', `--format=${TRAILERS_FORMAT}`, ref, '--'], {
    codes: [0, 128],
  });
  const found = readTrailers(said.bytes.toString('utf8').replaceAll('\0', ''));
  const start = await repository.commitOf(`${ref}^`);
  return found === undefined || start === undefined ? undefined : { ...found, start, ref };
}
