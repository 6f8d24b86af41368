import { readlinkSync } from 'node:fs';
import type { Clock } from 'orrery';
import { isNotedAlive, knownProcesses, notedProcessIn, noteOfThisProcess, variableOf } from 'orrery/coding';
import { worktreesOf } from './linked-worktree.ts';
import type { Repository } from './repository.ts';

/** The variable by which a git is known that this process, or one before, has started. */
export const GIT_OF = 'ORRERY_GIT_OF';
/** How long it is from one look to the next, milliseconds. */
const LOOK_MS = 20;
/** Looks until one that does not end is left behind. Programs are ended by their watchers, and git ends when it is told to. */
const MOST_LOOKS = 500;

let own: string | undefined;

/** What a git of this process has as `GIT_OF`. */
export function ownMark(): string {
  own ??= JSON.stringify(noteOfThisProcess());
  return own;
}

/**
 * Waits until nobody is at work any more for a process that is dead: a git that it has started ends by itself, and would write
 * where others write now. It is called by the holder of the mission's lock. Where there is no `/proc`, nobody is seen.
 */
export async function settleLeftovers(
  repository: Repository,
  { slug, clock }: { readonly slug: string; readonly clock: Pick<Clock, 'setTimer'> },
): Promise<void> {
  const folder = `${worktreesOf(repository, slug)}/`;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const left = leftovers(repository, folder);
    if (left.length === 0) return;
    for (const { pid, isGit } of left) if (isGit) terminate(pid);
    await new Promise<void>((resolve) => clock.setTimer(LOOK_MS, resolve));
  }
}

interface Leftover {
  readonly pid: number;
  readonly isGit: boolean;
}

function leftovers({ root }: Repository, folder: string): Leftover[] {
  return knownProcesses().flatMap(({ pid }) => {
    const place = `${placeOf(pid)}/`;
    if (place === '/' || pid === process.pid) return [];
    if (place.startsWith(folder)) return [{ pid, isGit: isOrphanedGit(pid) }];
    return place.startsWith(`${root}/`) && isOrphanedGit(pid) ? [{ pid, isGit: true }] : [];
  });
}

/** Whether it is a git that was started by a process which is dead. */
function isOrphanedGit(pid: number): boolean {
  const mark = variableOf(pid, GIT_OF);
  const parent = mark === undefined ? undefined : notedProcessIn(mark);
  return parent !== undefined && !isNotedAlive(parent);
}

/** The folder that a process works in. */
function placeOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ''; // It has ended, or is somebody else's.
  }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    return; // It has ended.
  }
}
