import { realpathSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { codeOf, readSource } from '../read-source.ts';
import type { SourceText } from '../source-text.ts';

/** A file's text, or why a finding may not name that file. */
export type ReadWithin = { readonly source: SourceText } | { readonly fault: string };

/** Reads a file that surely lies inside `root`, a real path: neither `..` nor a symbolic link leads out of it. */
export function readWithin(root: string, file: string): ReadWithin {
  if (!isPlain(file)) return { fault: 'its file is not a path inside the repository' };
  try {
    if (!realpathSync(join(root, file)).startsWith(root === sep ? sep : root + sep)) {
      return { fault: 'its file leads out of the repository' };
    }
  } catch (error) {
    const code = codeOf(error);
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    return { fault: isGone ? 'its file does not exist' : `its file cannot be read: ${code}` };
  }
  const read = readSource(root, file);
  return 'skipped' in read ? { fault: `its file ${read.reason}` } : { source: read.source };
}

const isPlain = (file: string): boolean =>
  !file.includes('\0') &&
  !posix.isAbsolute(file) &&
  posix.normalize(file) === file &&
  file !== '.' &&
  file.split('/')[0] !== '..';
