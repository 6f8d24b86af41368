import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { SourceText } from './source-text.ts';

/** The largest file that is read, bytes. Larger ones are data or bundles. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** The bytes that are searched for a NUL, which marks a binary file, as in git. */
const SNIFFED_BYTES = 8_000;
/** A buffer for the head of a file, shared by all reads. */
const sniffed = Buffer.alloc(SNIFFED_BYTES);

/** Why a file was not read. */
export type SkipKind = 'binary' | 'too-large' | 'unreadable';

/** The text of a file and its size in bytes, or why it was not read. */
export type ReadResult =
  | { readonly source: SourceText; readonly bytes: number }
  | { readonly skipped: SkipKind; readonly reason: string };

/**
 * Reads a text file of the repository, or says why not.
 *
 * Of a binary file it reads the head only. It never follows a symbolic link and never blocks, because a path may have become
 * a link or a pipe since it was listed.
 */
export function readSource(root: string, file: string, maxBytes = MAX_FILE_BYTES): ReadResult {
  let descriptor: number;
  try {
    descriptor = openSync(join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return { skipped: 'unreadable', reason: `cannot be read: ${codeOf(error)}` };
  }
  try {
    return readOpen(descriptor, file, maxBytes);
  } catch (error) {
    return { skipped: 'unreadable', reason: `cannot be read: ${codeOf(error)}` };
  } finally {
    closeSync(descriptor);
  }
}

function readOpen(descriptor: number, file: string, maxBytes: number): ReadResult {
  const stat = fstatSync(descriptor);
  if (!stat.isFile()) return { skipped: 'unreadable', reason: 'is not a regular file' };
  if (stat.size > maxBytes) return { skipped: 'too-large', reason: tooLarge(stat.size, maxBytes) };
  const head = fill(descriptor, sniffed, 0, Math.min(SNIFFED_BYTES, stat.size));
  const isUtf16 = head >= 2 && sniffed[0] === 0xff && sniffed[1] === 0xfe;
  if (!isUtf16 && sniffed.subarray(0, head).includes(0)) return { skipped: 'binary', reason: 'is binary' };
  const bytes = Buffer.allocUnsafe(stat.size);
  sniffed.copy(bytes, 0, 0, head);
  const length = fill(descriptor, bytes, head, stat.size);
  const content = bytes.subarray(0, length);
  if (!isUtf16 && content.includes(0)) return { skipped: 'binary', reason: 'is binary' };
  const text = isUtf16 ? content.toString('utf16le', 2) : content.toString('utf8');
  return {
    source: new SourceText(file, text.charCodeAt(0) === 0xfeff ? text.slice(1) : text),
    bytes: length,
  };
}

/** Reads bytes from `from` up to `to`; returns where it stopped, because the file may have shrunk. */
function fill(descriptor: number, bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to) {
    const read = readSync(descriptor, bytes, at, to - at, null);
    if (read === 0) break;
    at += read;
  }
  return at;
}

export const tooLarge = (bytes: number, maxBytes: number): string =>
  `is larger than ${Math.round(maxBytes / 1024)} KiB (${Math.round(bytes / 1024)} KiB)`;

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
