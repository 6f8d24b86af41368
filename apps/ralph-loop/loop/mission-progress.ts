import { createHash } from 'node:crypto';
import type { KeptRecords } from 'orrery';
import type { Mission } from '../mission/mission.ts';
import { MissionError } from '../mission/mission-error.ts';
import type { TaskContext } from './task-context.ts';

const KIND = 'mission';
/** Under which it says whose progress it is; no task has this id. */
const HEAD = ' ';

/** What a mission has come to: the tasks that were accepted, in this run of it or in one before. */
export interface MissionProgress {
  readonly accepted: ReadonlyMap<string, TaskContext>;
  /** The task was accepted. Resolves when that outlives the process. */
  accept(taskId: string, context: TaskContext): Promise<void>;
}

/** Which mission, on which repository. `digest` is of everything that the mission file says. */
interface Head {
  readonly name: string;
  readonly root: string;
  readonly digest: string;
}

/**
 * The progress that `records` hold of this mission; with `isResumed` what is there counts, without it is forgotten.
 *
 * Fails with MissionError when what is there is another mission's, or of another repository, or nothing.
 */
export async function openProgress(
  records: KeptRecords,
  mission: Mission,
  { root, isResumed }: { readonly root: string; readonly isResumed: boolean },
): Promise<MissionProgress> {
  const head = headOf(mission, root);
  const kept = new Map((await records.list(KIND)).map(({ key, value }) => [key, value]));
  const known = kept.get(HEAD) as Head | undefined;
  if (isResumed) requireSame(mission, known, head);
  else for (const key of kept.keys()) await records.put(KIND, key, undefined);
  kept.delete(HEAD);
  if (!isResumed) await records.put(KIND, HEAD, head);
  return {
    accepted: isResumed ? (kept as Map<string, TaskContext>) : new Map(),
    accept: (taskId, context) => records.put(KIND, taskId, context),
  };
}

const headOf = (mission: Mission, root: string): Head => ({
  name: mission.name,
  root,
  digest: createHash('sha256').update(JSON.stringify(mission)).digest('hex'),
});

function requireSame({ name }: Mission, known: Head | undefined, head: Head): void {
  const fault = faultOf(known, head);
  if (fault !== undefined) throw new MissionError(`"${name}"`, [`cannot be resumed: ${fault}`]);
}

function faultOf(known: Head | undefined, { name, root, digest }: Head): string | undefined {
  if (known === undefined) return 'the journal has no progress of a mission';
  if (known.name !== name) return `the journal has the progress of "${known.name}"`;
  if (known.root !== root) return `its progress was made on ${known.root}`;
  return known.digest === digest ? undefined : 'it is not what it was when its progress was made';
}
