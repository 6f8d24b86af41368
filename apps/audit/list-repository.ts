import { listFiles, type ListedFile } from './list-files.ts';
import { NoteBook } from './note-book.ts';
import type { Note } from '@orrery/ralph-loop';

/** Files between two turns of the event loop. */
const FILES_A_TURN = 500;

/** The files of a repository, with notes about what was left out. */
export interface RepositoryFiles {
  readonly files: readonly ListedFile[];
  readonly notes: readonly Note[];
}

/** Lists the repository at `root`, a real path. Rejects with the signal's reason when it aborts. */
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
