import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from './usage-error.ts';

/**
 * A file that is there in full or not at all: written beside its place as `FILE.<pid>.part`, then renamed.
 *
 * Opened before the work begins, so that a path that cannot be written is found out first. A target that is
 * no regular file (`/dev/stdout`, a pipe) is written directly: renaming would replace the device.
 */
export class OutputFile {
  readonly path: string;
  readonly #partPath: string | undefined;
  #descriptor: number | undefined;

  /** `option` is named in the UsageError when `path` cannot be written. */
  constructor(option: string, path: string) {
    const absolute = resolve(path);
    try {
      const status = statSync(absolute, { throwIfNoEntry: false });
      refuseFolder(option, path, status);
      this.path = status === undefined ? absolute : realpathSync(absolute);
      const isPlain = status === undefined || status.isFile();
      this.#partPath = isPlain ? `${this.path}.${process.pid}.part` : undefined;
      this.#descriptor = openSync(this.#partPath ?? this.path, 'w');
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(
        `Option "${option}" is "${path}": ${reasonOf(error as NodeJS.ErrnoException, absolute)}`,
      );
    }
  }

  /** Appends; what is written after `commit` or `discard` is dropped. */
  write(text: string): void {
    if (this.#descriptor === undefined) return;
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }

  /** Puts the file into its place. */
  commit(): void {
    if (this.#descriptor === undefined) return;
    if (this.#partPath !== undefined) fsyncSync(this.#descriptor);
    this.#close();
    if (this.#partPath !== undefined) renameSync(this.#partPath, this.path);
  }

  /** Leaves what was there before, and nothing beside it. */
  discard(): void {
    if (this.#descriptor === undefined) return;
    this.#close();
    if (this.#partPath !== undefined) unlinkSync(this.#partPath);
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function refuseFolder(option: string, path: string, status: Stats | undefined): void {
  if (status?.isDirectory())
    throw new UsageError(`Option "${option}" is "${path}", which is a folder, expected a file`);
}

function reasonOf(error: NodeJS.ErrnoException, absolute: string): string {
  if (error.code === 'ENOENT') return `the folder ${dirname(absolute)} does not exist`;
  if (error.code === 'ENOTDIR') return `${dirname(absolute)} is not a folder`;
  return `it cannot be written (${error.code ?? error.message})`;
}
