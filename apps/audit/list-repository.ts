import { listFiles, type ListedFile } from './list-files.ts';
import { NoteBook } from './note-book.ts';
import type { Note } from '@orrery/ralph-loop';

/** After so many files others in the thread have a turn. */
const FILES_A_TURN = 500;

/** The files of a repository, and what was left out of them, and why. */
export interface RepositoryFiles {
  readonly files: readonly ListedFile[];
  readonly notes: readonly Note[];
}

/** Lists the repository at `root`, a real path; rejects with the signal's reason when that aborts. */
export async function listRepository(root: string, signal: AbortSignal): Promise<RepositoryFiles> {
  const notes = new NoteBook();
  const files: ListedFile[] = [];
  for (const file of listFiles(root, {
    note: (kind, reason, path) => notes.add({ kind, reason, file: path }),
  })) {
    files.push(file);
    if (files.length % FILES_A_TURN !== 0) continue;
    await new Promise(setImmediate);
    signal.throwIfAborted();
  }
  return { files, notes: notes.all() };
}
