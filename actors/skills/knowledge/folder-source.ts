import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidOptions, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import { readFileWithin } from '../read-file-within.ts';
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
} from './knowledge-source.ts';
import { MOST_FILE_BYTES, type KnowledgeFault } from './parse-knowledge.ts';

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
    const read = await readFileWithin(root, path, MOST_FILE_BYTES);
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

async function textIn(root: string, path: string): Promise<FileText> {
  const read = await readFileWithin(root, path, MOST_FILE_BYTES);
  return 'fault' in read ? read : { ...textOf(read.bytes), hash: hashOf(read.bytes) };
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
