import type { Clock } from '../protocol/seams.ts';
import { membersOf, processAt } from './proc-table.ts';
import { endFamily, endProcess, familyOf } from './process-family.ts';
import { isAlive, type ProcessIdentity, thisMachine } from './process-identity.ts';

const LOOK_MS = 10;
/** What is killed may take as long as the kernel needs to give back its memory. */
const MOST_WAIT_MS = 5_000;

/** A process that a dead host had left behind; `isGone`: it, and whatever it had started, has ended. */
export interface FoundProcess {
  readonly process: ProcessIdentity;
  readonly isGone: boolean;
}

/**
 * Ends those of the noted processes that still live, with whatever they have started, and waits until they are gone. Of
 * those that are gone it ends what has their mark.
 *
 * Only what has the noted start is ended: another process that was given the number meanwhile is left alone, and so is a
 * group whose head is gone.
 */
export async function endLeftProcesses(
  noted: readonly ProcessIdentity[],
  clock: Clock,
): Promise<FoundProcess[]> {
  const left = noted
    .map((process) => ({ process, wasAlive: isAlive(process), mark: presentMark(process) }))
    .filter(({ wasAlive, mark }) => wasAlive || marked(mark).length > 0);
  for (const { process, wasAlive, mark } of left) {
    if (wasAlive) endProcess(process.pid, mark);
    else endFamily(undefined, mark);
  }
  return Promise.all(
    left.map(async ({ process, wasAlive, mark }) => {
      const isGone = (): boolean => (!wasAlive || isGroupGone(process)) && marked(mark).length === 0;
      return { process, isGone: await isSoon(isGone, clock) };
    }),
  );
}

async function isSoon(what: () => boolean, clock: Clock): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < MOST_WAIT_MS; waitedMs += LOOK_MS) {
    if (what()) return true;
    await new Promise<void>((resolve) => clock.setTimer(LOOK_MS, resolve));
  }
  return false;
}

const marked = (mark: string | undefined): readonly number[] =>
  mark === undefined ? [] : familyOf(undefined, mark);

/** What had a mark before the machine was started again is no more. */
const presentMark = ({ mark, machine }: ProcessIdentity): string | undefined =>
  machine === thisMachine() ? mark : undefined;

/** Once the number is given to another process the group has ended: as long as it is there nobody else gets its number. */
function isGroupGone({ pid, start }: ProcessIdentity): boolean {
  const now = processAt(pid);
  if (now !== undefined && now.start !== start) return true;
  return membersOf(pid).length === 0;
}
