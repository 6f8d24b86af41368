import type { Clock } from '../protocol/seams.ts';
import { membersOf, processAt } from './proc-table.ts';
import { endFamily, endProcess, familyOf } from './process-family.ts';
import { isAlive, type ProcessIdentity, thisMachine } from './process-identity.ts';

const LOOK_MS = 10;
/** How long a killed process may take to end: the kernel has to give back its memory. */
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

/** The mark, unless the machine was started again since: then no process has it any more. */
const presentMark = ({ mark, machine }: ProcessIdentity): string | undefined =>
  machine === thisMachine() ? mark : undefined;

/** A group keeps its number while it lives. So where another process has the number, the group has ended. */
function isGroupGone({ pid, start }: ProcessIdentity): boolean {
  const now = processAt(pid);
  if (now !== undefined && now.start !== start) return true;
  return membersOf(pid).length === 0;
}
