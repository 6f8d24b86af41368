import { createHash } from 'node:crypto';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LastBytes } from './last-bytes.ts';

/** How much of an output is kept from its beginning, and as much from its end, bytes. */
export const KEPT_BYTES = 8 * 1024 * 1024;

/** The file of a log as it was left. */
export interface KeptLog {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The log of a gate. Its beginning is in the file as it comes; of what follows the end is kept until the log is closed. A line between
 * them says how much was left out.
 */
export class GateLog {
  readonly #file: FileHandle;
  readonly #keptBytes: number;
  readonly #end: LastBytes;
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, keptBytes: number) {
    this.#file = file;
    this.#keptBytes = keptBytes;
    this.#end = new LastBytes(keptBytes);
  }

  /** Makes an empty log, and its folder. @throws what the file system says */
  static async open(path: string, keptBytes = KEPT_BYTES): Promise<GateLog> {
    await mkdir(dirname(path), { recursive: true });
    return new GateLog(await open(path, 'w', 0o600), keptBytes);
  }

  /** Adds a part. Parts are kept in the order of the calls. @throws what the file system says */
  write(part: Uint8Array): Promise<void> {
    this.#last = this.#last.then(() => this.#add(part));
    return this.#last;
  }

  /** Writes what was kept of the end. @throws what the file system says, also of the last parts */
  async close(): Promise<KeptLog> {
    try {
      await this.#last;
      const leftOut = this.#end.total - this.#end.kept;
      if (leftOut > 0) await this.#put(Buffer.from(`\n[${leftOut} bytes are left out here]\n`));
      for (const part of this.#end.parts()) await this.#put(part);
      return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
    } finally {
      await this.#file.close();
    }
  }

  async #add(part: Uint8Array): Promise<void> {
    const room = this.#end.total > 0 ? 0 : Math.max(0, this.#keptBytes - this.#bytes);
    if (room > 0) await this.#put(part.subarray(0, room));
    if (part.length > room) this.#end.add(part.subarray(room));
  }

  async #put(part: Uint8Array): Promise<void> {
    await this.#file.appendFile(part);
    this.#hash.update(part);
    this.#bytes += part.length;
  }
}
