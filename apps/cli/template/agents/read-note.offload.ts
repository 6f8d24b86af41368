import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Reads one file, as list-notes.offload.ts does all. */
export default function readNote({ root, file }: { root: string; file: string }): Promise<string> {
  return readFile(join(root, file), 'utf8');
}
