import { realpathSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { codeOf, readSource } from './read-source.ts';
import type { SourceText } from './source-text.ts';

/** The text of a file, or why a finding must not name it. */
export type ReadWithin = { readonly source: SourceText } | { readonly fault: string };

/** Reads a file, after checking that it is inside `root`, a real path. */
export function readWithin(root: string, file: string): ReadWithin {
  const fault = pathFault(root, file);
  if (fault !== undefined) return { fault };
  const read = readSource(root, file);
  return 'skipped' in read ? { fault: `its file ${read.reason}` } : { source: read.source };
}

/** Says why `file` is not inside `root`; undefined if it is. Neither `..` nor a symbolic link may lead out. */
export function pathFault(root: string, file: string): string | undefined {
  if (!isPlain(file)) return 'its file is not a path inside the repository';
  try {
    const isInside = realpathSync(join(root, file)).startsWith(root === sep ? sep : root + sep);
    return isInside ? undefined : 'its file leads out of the repository';
  } catch (error) {
    const code = codeOf(error);
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    return isGone ? 'its file does not exist' : `its file cannot be read: ${code}`;
  }
}

const isPlain = (file: string): boolean =>
  !file.includes('\0') &&
  !posix.isAbsolute(file) &&
  posix.normalize(file) === file &&
  file !== '.' &&
  file.split('/')[0] !== '..';
