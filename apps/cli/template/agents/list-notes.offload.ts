import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Lists the notes of a folder. `ctx.offload` runs it, so that `orrery simulate` can wait for it. */
export default async function listNotes({
  root,
}: {
  root: string;
}): Promise<{ file: string; words: number }[]> {
  const paths = await readdir(root, { recursive: true });
  const files = paths.filter((path) => path.endsWith('.md') && !path.includes('node_modules')).sort();
  return Promise.all(
    files.map(async (file) => ({ file, words: wordsOf(await readFile(join(root, file), 'utf8')) })),
  );
}

const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
