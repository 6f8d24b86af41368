import { createHash, randomUUID } from 'node:crypto';
import type { JournalRecords } from 'orrery';
import type { Spent } from '../code/coding-budget.ts';
import type { Mission } from '../mission/mission.ts';
import { MissionError } from '../mission/mission-error.ts';
import type { JournalledTask, TaskContext } from './task-context.ts';

const KIND = 'mission';
const SPENT = 'mission-spent';
/** The key of the head, which no task has as id. */
const HEAD = ' ';

/** The progress of a mission: the tasks that were accepted, in this run or earlier. */
export interface MissionProgress {
  /** The id of the run, which a resumed run keeps. It marks what the run has left elsewhere, such as swarms. */
  readonly runId: string;
  readonly accepted: ReadonlyMap<string, JournalledTask>;
  /** Stores an accepted task; resolves when that outlives the process. */
  accept(taskId: string, context: TaskContext): Promise<void>;
  /** What coding agents have used for each task, in this run before it was interrupted. */
  readonly spent: ReadonlyMap<string, Spent>;
  /** Stores all that was used for a task by now. */
  spend(taskId: string, spent: Spent): Promise<void>;
}

/** Identifies the mission and the repository. `digest` is a hash of the whole mission file. */
interface Head {
  readonly name: string;
  readonly root: string;
  readonly digest: string;
  readonly runId: string;
}

/**
 * Opens the progress of a mission in `records`. With `isResumed` it continues; otherwise it is deleted.
 *
 * Rejects with MissionError if there is nothing to resume, or only progress of another mission or repository.
 */
export async function openProgress(
  records: JournalRecords,
  mission: Mission,
  { root, isResumed }: { readonly root: string; readonly isResumed: boolean },
): Promise<MissionProgress> {
  const fresh = headOf(mission, root);
  const stored = new Map((await records.list(KIND)).map(({ key, value }) => [key, value]));
  const known = stored.get(HEAD) as Head | undefined;
  const head = isResumed ? requireSame(mission, known, fresh) : fresh;
  const spent = new Map((await records.list(SPENT)).map(({ key, value }) => [key, value as Spent]));
  if (!isResumed) {
    for (const key of stored.keys()) await records.put(KIND, key, undefined);
    for (const key of spent.keys()) await records.put(SPENT, key, undefined);
  }
  stored.delete(HEAD);
  if (!isResumed) await records.put(KIND, HEAD, head);
  return {
    runId: head.runId,
    accepted: isResumed ? (stored as Map<string, JournalledTask>) : new Map(),
    spent: isResumed ? spent : new Map(),
    spend: (taskId, used) => records.put(SPENT, taskId, { ...used }),
    accept: (taskId, { item: _known, ...task }) => records.put(KIND, taskId, task satisfies JournalledTask),
  };
}

const headOf = (mission: Mission, root: string): Head => ({
  name: mission.name,
  root,
  digest: createHash('sha256').update(JSON.stringify(mission)).digest('hex'),
  runId: randomUUID(),
});

function requireSame({ name }: Mission, known: Head | undefined, head: Head): Head {
  const fault = faultOf(known, head);
  if (fault !== undefined || known === undefined)
    throw new MissionError(`"${name}"`, [`cannot be resumed: ${fault}`]);
  return known;
}

function faultOf(known: Head | undefined, { name, root, digest }: Head): string | undefined {
  if (known === undefined) return 'the journal has no progress of a mission';
  if (known.name !== name) return `the journal has the progress of "${known.name}"`;
  if (known.root !== root) return `its progress was made on ${known.root}`;
  return known.digest === digest ? undefined : 'it is not what it was when its progress was made';
}
