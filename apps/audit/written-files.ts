import type { Note } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import { isMadeByMachine } from './made-by-machine.ts';

export interface WrittenFiles {
  readonly files: readonly string[];
  readonly bytes: number;
  readonly notes: readonly Note[];
}

/** Selects the files with text that people wrote. A note says what each of the others is. */
export function writtenFiles(root: string, files: readonly string[]): WrittenFiles {
  const written: string[] = [];
  const notes: Note[] = [];
  let bytes = 0;
  for (const file of files) {
    const read = readSource(root, file);
    if ('skipped' in read) notes.push({ kind: read.skipped, file, reason: read.reason });
    else if (isMadeByMachine(read.source))
      notes.push({ kind: 'generated', file, reason: 'is made by a program' });
    else {
      written.push(file);
      bytes += read.bytes;
    }
  }
  return { files: written, bytes, notes };
}
