import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { invalidOptions, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import {
  byPath,
  type FileText,
  isKnowledgePath,
  type KnowledgeSource,
  type LastChange,
  MOST_FILES,
  type OpenSource,
  type SourceFile,
  textOf,
  tooLarge,
} from './knowledge-source.ts';
import { MOST_FILE_BYTES, type KnowledgeFault } from './parse-knowledge.ts';

/** What is wrong with one file. Anything else is wrong with reading: nothing is known of the files then. */
const UNREADABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM']);
/** How deep folders lie in each other. */
const MOST_DEPTH = 30;

/** What stands in a folder; no symbolic link in it is followed. Throws INVALID_OPTIONS where there is none. */
export async function openFolder(source: KnowledgeSource, signal: AbortSignal): Promise<OpenSource> {
  const root = await realpath(source.path).catch((error: unknown) => {
    throw invalidOptions(
      `the path of the source "${source.name}"`,
      source.path,
      `a folder: ${reasonOf(error)}`,
    );
  });
  const files: (SourceFile & { readonly change: LastChange })[] = [];
  const faults: KnowledgeFault[] = [];
  for await (const path of pathsIn(root, source.folder, signal)) {
    if (files.length + faults.length === MOST_FILES)
      throw refused(`The source "${source.name}" has more than ${MOST_FILES} files`);
    const read = await readFileIn(root, path);
    if ('fault' in read) faults.push({ file: path, message: read.fault });
    else files.push({ path, hash: hashOf(read.bytes), change: { atMs: read.atMs } });
  }
  files.sort(byPath);
  const changes = new Map(files.map(({ path, change }) => [path, change]));
  return {
    files,
    faults,
    commit: undefined,
    texts: async (wanted, until) => {
      const texts: FileText[] = [];
      for (const { path } of wanted) {
        until.throwIfAborted();
        texts.push(await textIn(root, path));
      }
      return texts;
    },
    lastChanges: async () => changes,
  };
}

async function* pathsIn(
  root: string,
  folder: string | undefined,
  signal: AbortSignal,
  at: readonly string[] = [],
): AsyncGenerator<string> {
  signal.throwIfAborted();
  if (at.length > MOST_DEPTH) return;
  const inside = join(root, ...at);
  // What was a folder a moment ago may be a link by now.
  if ((await realpath(inside).catch(() => undefined)) !== inside) return;
  for (const entry of await readdir(inside, { withFileTypes: true })) {
    const path = [...at, entry.name].join('/');
    if (entry.isDirectory() && !entry.name.startsWith('.'))
      yield* pathsIn(root, folder, signal, [...at, entry.name]);
    else if (entry.isFile() && isKnowledgePath(path, folder)) yield path;
  }
}

type Read = { readonly bytes: Uint8Array; readonly atMs: number } | { readonly fault: string };

/** Reads a file within the folder. What is there in its place by now, such as a link, is not read. */
async function readFileIn(root: string, path: string): Promise<Read> {
  const file = join(root, ...path.split('/'));
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || (await realpath(file)) !== file || !file.startsWith(root + sep))
        return { fault: 'it is no file within the folder' };
      if (stats.size > MOST_FILE_BYTES) return { fault: tooLarge(stats.size, MOST_FILE_BYTES) };
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(MOST_FILE_BYTES + 1), {
        position: 0,
      });
      if (bytesRead > MOST_FILE_BYTES) return { fault: tooLarge(bytesRead, MOST_FILE_BYTES) };
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

async function textIn(root: string, path: string): Promise<FileText> {
  const read = await readFileIn(root, path);
  return 'fault' in read ? read : { ...textOf(read.bytes), hash: hashOf(read.bytes) };
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
