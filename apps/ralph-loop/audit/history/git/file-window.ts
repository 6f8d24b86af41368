import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A file of which parts are read. Never follows a symbolic link. */
export class FileWindow implements Disposable {
  readonly bytes: number;
  readonly #descriptor: number;

  /** Throws what the system throws. */
  constructor(path: string) {
    this.#descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    this.bytes = fstatSync(this.#descriptor).size;
  }

  /** The bytes from `offset` on, fewer than `count` at the end of the file. */
  read(offset: number, count: number): Buffer {
    const length = Math.max(0, Math.min(count, this.bytes - offset));
    const buffer = Buffer.allocUnsafe(length);
    const read = length === 0 ? 0 : readSync(this.#descriptor, buffer, 0, length, offset);
    return buffer.subarray(0, read);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}
