import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { closeBead, listBeads, readBeads } from './formats/beads.ts';
import { type RunProgram, runProgram } from './formats/run-program.ts';
import { edited } from './json-edit.ts';
import { markDone } from './mark-done.ts';
import { MissionError } from './mission-error.ts';
import type { MissionSource } from './mission-source.ts';
import { replaceFile } from './replace-file.ts';

/** How often a file that others write at the same time is read anew. */
const MAX_READS = 5;

/** What was written back, as ids of the mission's tasks; `already` were marked as done before. */
export interface SyncedMission {
  readonly written: readonly string[];
  readonly already: readonly string[];
}

/**
 * Marks the accepted tasks as done where the mission comes from, and changes nothing else there. `results` says what became of
 * each task by its id; all that is not `accepted` is left as it is. A file is read anew, so that what others wrote meanwhile
 * stays. Rejects with MissionError if a task is no longer there.
 */
export async function syncMission(
  source: MissionSource,
  results: Readonly<Record<string, string>>,
  { run = runProgram }: { readonly run?: RunProgram } = {},
): Promise<SyncedMission> {
  const ids = Object.keys(source.tasks).filter((id) => results[id] === 'accepted');
  if (ids.length === 0) return { written: [], already: [] };
  const keyOf = (id: string): string => source.tasks[id]?.key ?? id;
  const written =
    source.format === 'beads'
      ? await closeBeads(source, ids.map(keyOf), run)
      : await writeMarks(source, ids.map(keyOf));
  return {
    written: ids.filter((id) => written.has(keyOf(id))),
    already: ids.filter((id) => !written.has(keyOf(id))),
  };
}

/** Resolves to the keys that were not marked before. */
async function writeMarks(source: MissionSource, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const { file } = source;
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const text = await textOf(file);
    const marks = await markDone(text, keys, source);
    const edits = [...marks.values()].flatMap((edit) => (edit === undefined ? [] : [edit]));
    if (edits.length > 0) {
      // Somebody may have written it since.
      if ((await textOf(file)) !== text) continue;
      await replaceFile(file, edited(text, edits));
    }
    return new Set([...marks].filter(([, edit]) => edit !== undefined).map(([key]) => key));
  }
  throw new MissionError(file, ['others write it all the time: nothing was written back']);
}

/** A file that is no UTF-8 would come back changed. */
async function textOf(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new MissionError(file, ['is not UTF-8: nothing was written back']);
    throw error;
  }
}

async function closeBeads(
  { file }: MissionSource,
  keys: readonly string[],
  run: RunProgram,
): Promise<ReadonlySet<string>> {
  const folder = dirname(resolve(file));
  const read = readBeads(await listBeads(folder, run));
  if ('faults' in read) throw new MissionError(file, read.faults);
  // One that is not listed any more is closed.
  const open = new Set(read.mission.tasks.filter(({ state }) => state !== 'done').map(({ key }) => key));
  const toClose = keys.filter((key) => open.has(key));
  for (const key of toClose) await closeBead(key, folder, run);
  return new Set(toClose);
}
