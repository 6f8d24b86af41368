import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Reads one note. `ctx.offload` runs it, as it does list-notes.offload.ts. */
export default function readNote({ root, file }: { root: string; file: string }): Promise<string> {
  return readFile(join(root, file), 'utf8');
}
