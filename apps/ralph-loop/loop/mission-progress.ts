import { createHash, randomUUID } from 'node:crypto';
import type { JournalRecords } from 'orrery';
import type { Mission } from '../mission/mission.ts';
import { MissionError } from '../mission/mission-error.ts';
import type { JournalledTask, TaskContext } from './task-context.ts';

const KIND = 'mission';
/** Under which it says whose progress it is; no task has this id. */
const HEAD = ' ';

/** What a mission has come to: the tasks that were accepted, in this run of it or in one before. */
export interface MissionProgress {
  /** The same for a run that is resumed: what it left elsewhere is known by this. */
  readonly runId: string;
  readonly accepted: ReadonlyMap<string, JournalledTask>;
  /** The task was accepted. Resolves when that outlives the process. */
  accept(taskId: string, context: TaskContext): Promise<void>;
}

/** Which mission, on which repository. `digest` is of everything that the mission file says. */
interface Head {
  readonly name: string;
  readonly root: string;
  readonly digest: string;
  readonly runId: string;
}

/**
 * The progress that `records` hold of this mission; with `isResumed` what is there counts, without it is forgotten.
 *
 * Fails with MissionError when what is there is another mission's, or of another repository, or nothing.
 */
export async function openProgress(
  records: JournalRecords,
  mission: Mission,
  { root, isResumed }: { readonly root: string; readonly isResumed: boolean },
): Promise<MissionProgress> {
  const fresh = headOf(mission, root);
  const kept = new Map((await records.list(KIND)).map(({ key, value }) => [key, value]));
  const known = kept.get(HEAD) as Head | undefined;
  const head = isResumed ? requireSame(mission, known, fresh) : fresh;
  if (!isResumed) for (const key of kept.keys()) await records.put(KIND, key, undefined);
  kept.delete(HEAD);
  if (!isResumed) await records.put(KIND, HEAD, head);
  return {
    runId: head.runId,
    accepted: isResumed ? (kept as Map<string, JournalledTask>) : new Map(),
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
