import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomNonce } from '../../runtime/protocol/signing.ts';

/** Only the owner may enter, and only the owner may read. */
export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/**
 * Writes a file that is there as a whole or not at all, also after a loss of power, and that its owner alone may read.
 *
 * `isNew`: throws EEXIST where the file is there. Otherwise it takes its place.
 */
export function writeWhole(file: string, text: string, { isNew }: { readonly isNew: boolean }): void {
  const folder = dirname(file);
  const draft = join(folder, `.${basename(file)}.${randomNonce()}`);
  const descriptor = openSync(draft, 'wx', PRIVATE_FILE);
  try {
    try {
      // The mask of the process may have taken rights away.
      fchmodSync(descriptor, PRIVATE_FILE);
      writeAll(descriptor, Buffer.from(text));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (isNew) linkSync(draft, file);
    else renameSync(draft, file);
  } finally {
    removeIfThere(draft);
  }
  syncFolder(folder);
}

export const makePrivateFolder = (folder: string): unknown =>
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });

export const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException | undefined)?.code;

/** The text of a file of at most `maxBytes` bytes, and what the system says of it; undefined if there is none. */
export function readWhole(
  file: string,
  maxBytes: number,
): { readonly text: string; readonly stats: Stats } | 'too-large' | 'no-file' | undefined {
  const descriptor = openToRead(file);
  if (descriptor === undefined) return undefined;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return 'no-file';
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    return length > maxBytes ? 'too-large' : { text: buffer.toString('utf8', 0, length), stats };
  } finally {
    closeSync(descriptor);
  }
}

/** A link is not followed, and a pipe is not waited for. */
function openToRead(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Windows has no such thing. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
