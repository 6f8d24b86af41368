import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidOptions, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import { git, gitFields, gitText } from '../git-program.ts';
import { tooLarge } from '../read-file-within.ts';
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
import { type KnowledgeFault, MOST_FILE_BYTES } from './parse-knowledge.ts';

const MOST_FIELD = 64 * 1024;
const ENTRY = /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\S+)\t(.*)$/s;
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** A symbolic link is a file of the mode 120000, and not followed; a repository within it is no file at all. */
const FILE_MODES: ReadonlySet<string> = new Set(['100644', '100755', '100664']);

/** Whether a folder is a git repository, with files beside it or without. */
export async function isGit(path: string): Promise<boolean> {
  const isThere = (name: string): Promise<boolean> =>
    stat(join(path, name)).then(
      () => true,
      () => false,
    );
  if (await isThere('.git')) return true;
  return (await isThere('HEAD')) && (await isThere('objects')) && (await isThere('refs'));
}

/** A git repository at one commit: the files beside it are not looked at. Throws INVALID_OPTIONS for a `ref` that is not there. */
export async function openGit(source: KnowledgeSource, signal: AbortSignal): Promise<OpenSource> {
  const { path, name, ref = 'HEAD' } = source;
  const options = { path, signal };
  const commit = await gitText(
    ['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`],
    options,
  ).then(
    (text) => text.trim(),
    (error: unknown) => {
      signal.throwIfAborted();
      throw invalidOptions(
        `the ref of the source "${name}"`,
        ref,
        `a commit in its repository: ${reasonOf(error)}`,
      );
    },
  );
  const { files, faults } = await listFiles(source, commit, signal);
  return {
    files,
    faults,
    commit,
    texts: (wanted, until) => readBlobs(wanted, { path, signal: until }),
    lastChanges: (paths, until) => readLastChanges(paths, commit, { path, signal: until }),
  };
}

async function listFiles(
  { path, name, folder }: KnowledgeSource,
  commit: string,
  signal: AbortSignal,
): Promise<{ files: SourceFile[]; faults: KnowledgeFault[] }> {
  const files: SourceFile[] = [];
  const faults: KnowledgeFault[] = [];
  const args = ['ls-tree', '-r', '-z', '-l', '--full-tree', commit];
  for await (const entry of gitFields(args, { path, signal, most: MOST_FIELD })) {
    const { text, fault } = textOf(entry);
    const [, mode = '', type, hash = '', size = '', file = ''] =
      ENTRY.exec(text ?? entry.toString('utf8')) ?? [];
    if (type !== 'blob' || !FILE_MODES.has(mode) || !isKnowledgePath(file, folder)) continue;
    // Such as of a clone that was to fetch it when it is needed.
    if (!/^\d+$/.test(size)) throw refused(`The repository lacks the object ${hash}`);
    if (files.length + faults.length === MOST_FILES)
      throw refused(`The source "${name}" has more than ${MOST_FILES} files`);
    if (fault !== undefined) faults.push({ file, message: 'its path is not in UTF-8' });
    else if (Number(size) > MOST_FILE_BYTES)
      faults.push({ file, message: tooLarge(Number(size), MOST_FILE_BYTES) });
    else files.push({ path: file, hash });
  }
  return { files: files.sort(byPath), faults };
}

interface Reading {
  readonly path: string;
  readonly signal: AbortSignal;
}

/** One process gives them all, one after the other: `<hash> blob <size>`, a line end, the bytes, a line end. */
async function readBlobs(files: readonly SourceFile[], { path, signal }: Reading): Promise<FileText[]> {
  if (files.length === 0) return [];
  const input = files.map(({ hash }) => `${hash}\n`).join('');
  const chunks: Buffer[] = [];
  for await (const chunk of git(['cat-file', '--batch'], { path, signal, input })) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  const texts: FileText[] = [];
  let at = 0;
  for (const { hash } of files) {
    const end = all.indexOf('\n', at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(all.toString('latin1', at, end === -1 ? at : end)) ?? [];
    if (size === undefined) throw refused(`The repository lacks the object ${hash}`);
    texts.push(textOf(all.subarray(end + 1, end + 1 + Number(size))));
    at = end + 1 + Number(size) + 1;
  }
  return texts;
}

/**
 * Walks from the newest commit to older ones until it has been where each file was changed. Behind an empty field stand hash,
 * author and date of a commit, and then the files that it changed, before the first of which stands a line end.
 */
async function readLastChanges(
  paths: ReadonlySet<string>,
  commit: string,
  { path, signal }: Reading,
): Promise<Map<string, LastChange>> {
  const changes = new Map<string, LastChange>();
  if (paths.size === 0) return changes;
  const args = [
    'log',
    '-z',
    '--name-only',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '-c',
    '--format=%x00%x00%H%x00%an%x00%at',
    '--end-of-options',
    commit,
  ];
  let head: string[] = [];
  let isEmpty = false;
  let change: LastChange | undefined;
  for await (const field of gitFields(args, { path, signal, most: MOST_FIELD })) {
    const text = field.toString('utf8');
    if (head.length > 0) {
      head.push(text);
      if (head.length < 3) continue;
      change = changeOf(head);
      head = [];
      isEmpty = false;
    } else if (isEmpty && COMMIT.test(text)) {
      head = [text];
    } else {
      isEmpty = text === '';
      const file = change !== undefined && text.startsWith('\n') && !paths.has(text) ? text.slice(1) : text;
      if (change === undefined || !paths.has(file) || changes.has(file)) continue;
      changes.set(file, change);
      if (changes.size === paths.size) break;
    }
  }
  return changes;
}

const MOST_AUTHOR = 200;

function changeOf([commit, author = '', at = '']: readonly string[]): LastChange {
  const atMs = Number(at.trim()) * 1_000;
  return {
    commit,
    author: author.slice(0, MOST_AUTHOR).toWellFormed(),
    atMs: Number.isSafeInteger(atMs) && atMs > 0 ? atMs : 0,
  };
}
