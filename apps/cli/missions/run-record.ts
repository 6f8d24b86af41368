import { isAbsolute } from 'node:path';
import { StopReason } from '@orrery/ralph-loop';
import { isNotedAlive, NotedProcess } from 'orrery/coding';
import { z } from 'zod';

const MAX_TEXT = 8_192;

const Text = z.string().min(1).max(MAX_TEXT);
const Path = Text.refine((path) => isAbsolute(path) && !path.includes('\0'), { error: 'no absolute path' });
const TimeMs = z.int().nonnegative();

/** How a run ended by itself, or was interrupted. `isSynced`: the list of tasks that it was read from knows what is done. */
export const RunEnd = z.strictObject({
  stopReason: StopReason,
  endedAtMs: TimeMs,
  exitCode: z.int().min(0).max(255),
  isSynced: z.boolean().optional(),
});
export type RunEnd = z.infer<typeof RunEnd>;

/**
 * The last run of a mission in a repository. Times are Unix milliseconds.
 *
 * - `file`    the mission file; absent if none was named.
 * - `root`    top level of the repository.
 * - `folder`  where the command was typed.
 * - `options` as they were typed, with absolute paths; `true` for those without a value.
 * - `leftOut` options that are not kept, because they hold a secret.
 * - `journal` in which its progress is kept.
 * - `process` that carries it out.
 * - `ended`   absent while it runs, and when its process died.
 */
export const RunRecord = z.strictObject({
  version: z.literal(1),
  mission: Text,
  file: Path.optional(),
  root: Path,
  folder: Path,
  options: z.record(Text, z.union([Text, z.literal(true)])),
  leftOut: z.array(Text).max(64),
  journal: Path,
  process: NotedProcess,
  startedAtMs: TimeMs,
  ended: RunEnd.optional(),
});
export type RunRecord = z.infer<typeof RunRecord>;

/** - `running` its process lives. - `ended` it said how it ended. - `died` it did not, and its process is gone. */
export type RunStatus = 'running' | 'ended' | 'died';

export function statusOf({ ended, process }: RunRecord, lives = isNotedAlive): RunStatus {
  if (ended !== undefined) return 'ended';
  return lives(process) ? 'running' : 'died';
}

/** Whether everything was accepted, or is marked where the tasks come from, so that there is nothing to go on with. */
export const isFinished = ({ ended }: RunRecord): boolean =>
  ended?.isSynced === true ||
  ended?.stopReason === 'all-accepted' ||
  ended?.stopReason === 'findings-at-or-above';
