/**
 * Where a mission comes from.
 *
 * - `orrery`     a mission file of ours.
 * - `prd`        `prd.json`.
 * - `taskmaster` `.taskmaster/tasks/tasks.json`.
 * - `checklist`  a checklist in Markdown.
 * - `beads`      the issues of beads.
 */
export type MissionFormat = 'orrery' | 'prd' | 'taskmaster' | 'checklist' | 'beads';

/** Where a task comes from: its id there, and its place for a reader, such as `line 12` or `userStories[2]`. */
export interface TaskSource {
  readonly key: string;
  readonly place: string;
}

/** A task that is not done: it is over already, it is put off, or it waits for one that is. */
export interface LeftOutTask extends TaskSource {
  readonly why: string;
}

/**
 * What a mission was read from, which is needed to write back what became of it.
 *
 * - `file`  or folder; absolute if it was named so.
 * - `tag`   of the tasks in `tasks.json` that were meant.
 * - `tasks` by their ids in the mission. A mission of ours has none, for there is nothing to write back.
 */
export interface MissionSource {
  readonly format: MissionFormat;
  readonly file: string;
  readonly tag?: string;
  readonly tasks: Readonly<Record<string, TaskSource>>;
  readonly leftOut: readonly LeftOutTask[];
}
