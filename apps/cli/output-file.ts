import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { ownDescriptor } from './own-descriptor.ts';
import { UsageError } from './usage-error.ts';

/** Writes to an open file. */
export interface Disk {
  /** Writes at least one byte of `bytes` from `at` on; returns how many. */
  write(descriptor: number, bytes: Uint8Array, at: number): number;
  sync(descriptor: number): void;
}

const DISK: Disk = { write: writeSync, sync: fsyncSync };

/**
 * A file that appears completely or not at all: it is written to `FILE.<pid>.part`, then renamed.
 *
 * It is opened before the work begins, so that an invalid path is noticed early. A target that is no regular file
 * (`/dev/stdout`, a pipe) is written directly, because renaming would replace the device.
 *
 * After the constructor nothing throws: the first error closes the file, and `failure` describes it.
 */
export class OutputFile {
  readonly path: string;
  readonly #disk: Disk;
  readonly #partPath: string | undefined;
  readonly #isOurs: boolean;
  #descriptor: number | undefined;
  #wholeBytes = 0;
  #failure: string | undefined;

  /** Opens the file. Throws UsageError, naming `option`, if `path` cannot be written. */
  constructor(option: string, path: string, disk = DISK) {
    const absolute = resolve(path);
    this.#disk = disk;
    try {
      const given = ownDescriptor(absolute);
      const status = given === undefined ? statSync(absolute, { throwIfNoEntry: false }) : fstatSync(given);
      refuseFolder(option, path, status);
      const isPlain = given === undefined && (status === undefined || status.isFile());
      this.path = isPlain && status !== undefined ? realpathSync(absolute) : absolute;
      this.#partPath = isPlain ? `${this.path}.${process.pid}.part` : undefined;
      this.#isOurs = given === undefined;
      this.#descriptor = given ?? openSync(this.#partPath ?? this.path, isPlain ? 'w' : DIRECTLY);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(
        `Option "${option}" is "${path}": ${reasonOf(error as NodeJS.ErrnoException, absolute)}`,
      );
    }
  }

  /** Whether it is a regular file, not a device or pipe. */
  get isPlain(): boolean {
    return this.#partPath !== undefined;
  }

  /** Why the file could not be written; undefined if it could. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Appends all of `text` or nothing; returns which. Text after `commit`, `discard` or a failure is dropped. */
  write(text: string): boolean {
    if (this.#descriptor === undefined) return false;
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length; ) at += this.#writeSome(this.#descriptor, bytes, at);
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException);
      return false;
    }
    this.#wholeBytes += bytes.length;
    return true;
  }

  /** Moves the file to its place. */
  commit(): void {
    if (this.#descriptor === undefined) return;
    try {
      if (this.#partPath !== undefined) this.#disk.sync(this.#descriptor);
      this.#close();
      if (this.#partPath !== undefined) renameSync(this.#partPath, this.path);
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException);
    }
  }

  /** Removes what was written; a former file stays. */
  discard(): void {
    if (this.#descriptor === undefined) return;
    this.#close();
    if (this.#partPath !== undefined) rmSync(this.#partPath, { force: true });
  }

  /** Writes some bytes. Waits if a pipe is full. */
  #writeSome(descriptor: number, bytes: Uint8Array, at: number): number {
    for (;;) {
      try {
        return this.#disk.write(descriptor, bytes, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        Atomics.wait(NEVER_NOTIFIED, 0, 0, FULL_PIPE_MS);
      }
    }
  }

  /** Closes the file with an error. Complete writes stay in the `.part` file. */
  #fail(error: NodeJS.ErrnoException): void {
    this.#failure = whatFailed(error);
    try {
      if (this.#partPath === undefined) return;
      if (this.#wholeBytes === 0) rmSync(this.#partPath, { force: true });
      else {
        if (this.#descriptor !== undefined) ftruncateSync(this.#descriptor, this.#wholeBytes);
        this.#failure += `; what was written is in ${this.#partPath}`;
      }
    } catch {
      // Only the first error is reported.
    } finally {
      this.#close();
    }
  }

  #close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined && this.#isOurs) closeSync(descriptor);
  }
}

/** Flags that do not block until a pipe has a reader: that would also block Ctrl-C. */
const DIRECTLY = constants.O_WRONLY | constants.O_NONBLOCK;

const FULL_PIPE_MS = 5;
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

function refuseFolder(option: string, path: string, status: Stats | undefined): void {
  if (status?.isDirectory())
    throw new UsageError(`Option "${option}" is "${path}", which is a folder, expected a file`);
}

function reasonOf({ code, errno, message, path }: NodeJS.ErrnoException, absolute: string): string {
  const folder = dirname(absolute);
  if (code === 'ENOTDIR') return `${folder} is not a folder`;
  if (code === 'ENOENT' && !existsSync(folder)) return `the folder ${folder} does not exist`;
  if (code === 'ENXIO') return 'nobody reads from it';
  const reason = errno === undefined ? message : `${getSystemErrorMessage(errno)} (${code})`;
  // The `.part` file fails if its folder does.
  return `${path === absolute ? 'it cannot be written' : `no file can be written in ${folder}`}: ${reason}`;
}

/** Describes an error of writing. */
export function whatFailed({ code, message }: NodeJS.ErrnoException): string {
  if (code === undefined) return message;
  const sentences = {
    ENOSPC: 'no space is left',
    EDQUOT: 'the quota is used up',
    EPIPE: 'nobody reads it any more',
  };
  return Object.hasOwn(sentences, code) ? `${sentences[code as keyof typeof sentences]} (${code})` : message;
}
