import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** What is wrong with one file. Anything else is wrong with reading: nothing is known of the files then. */
const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM']);

/** - `atMs` when it was changed last, Unix milliseconds. */
export type ReadFile =
  | { readonly bytes: Uint8Array; readonly atMs: number }
  | { readonly fault: string; readonly bytes?: undefined };

export const tooLarge = (bytes: number, most: number): string =>
  `it has ${bytes} bytes, expected at most ${most}`;

/**
 * Reads a file within a folder, whose real path `root` is. What is there in its place by now, such as a link, is not read, and
 * nothing behind a link on its way. Throws what goes wrong with reading itself.
 */
export async function readFileWithin(root: string, path: string, mostBytes: number): Promise<ReadFile> {
  const file = join(root, ...path.split('/'));
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || (await realpath(file)) !== file || !file.startsWith(root + sep))
        return { fault: 'it is no file within the folder' };
      if (stats.size > mostBytes) return { fault: tooLarge(stats.size, mostBytes) };
      const readUpTo = (bytes: number) => handle.read(Buffer.allocUnsafe(bytes), { position: 0 });
      const first = await readUpTo(stats.size + 1);
      // Where there is more by now, it has grown meanwhile.
      const { buffer, bytesRead } = first.bytesRead > stats.size ? await readUpTo(mostBytes + 1) : first;
      if (bytesRead > mostBytes) return { fault: tooLarge(bytesRead, mostBytes) };
      return { bytes: buffer.subarray(0, bytesRead), atMs: Math.max(0, Math.floor(stats.mtimeMs)) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (UNREADABLE.has(code)) return { fault: `it cannot be read: ${code}` };
    throw error;
  }
}
