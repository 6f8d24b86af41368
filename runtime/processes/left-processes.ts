import type { Clock } from '../protocol/seams.ts';
import { identityOf, isAlive, membersOf, type ProcessIdentity } from './process-identity.ts';

const LOOK_MS = 10;
/** What is killed may take as long as the kernel needs to give back its memory. */
const MOST_WAIT_MS = 5_000;

/** A process that a dead host had left behind; `isGone`: it, and whatever was in its group, has ended. */
export interface FoundProcess {
  readonly process: ProcessIdentity;
  readonly isGone: boolean;
}

export interface LeftProcessesDeps {
  readonly clock: Clock;
  /** Ends a process and its group. */
  readonly end: (pid: number) => void;
}

/**
 * Ends those of the noted processes that still live, with their groups, and waits until they are gone.
 *
 * Only what has the noted start is ended: another process that was given the number meanwhile is left alone, and so is a
 * group whose head is gone.
 */
export async function endLeftProcesses(
  noted: readonly ProcessIdentity[],
  deps: LeftProcessesDeps,
): Promise<FoundProcess[]> {
  const left = noted.filter(isAlive);
  for (const { pid } of left) deps.end(pid);
  return Promise.all(
    left.map(async (process) => ({ process, isGone: await isGoneSoon(process, deps.clock) })),
  );
}

async function isGoneSoon(process: ProcessIdentity, clock: Clock): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < MOST_WAIT_MS; waitedMs += LOOK_MS) {
    if (isGroupGone(process)) return true;
    await new Promise<void>((resolve) => clock.setTimer(LOOK_MS, resolve));
  }
  return false;
}

/** Once the number is given to another process the group has ended: as long as it is there nobody else gets its number. */
function isGroupGone(process: ProcessIdentity): boolean {
  const now = identityOf(process.pid);
  if (now !== undefined && now.start !== process.start) return true;
  return membersOf(process.pid).length === 0;
}
