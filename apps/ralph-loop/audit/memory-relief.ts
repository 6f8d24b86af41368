import { Session } from 'node:inspector';

/** How much text may have been parsed between two collections. */
const RELIEF_EVERY_BYTES = 1024 * 1024;

/**
 * Gives memory back while many files are parsed.
 *
 * The parser keeps a tree in native memory, thirty times its text, until the collector finalises the result; the
 * collector does not know of it and sees no reason to run, and finalisers wait for a turn of the event loop. 13 MB of
 * scripts in a row took 420 MB, and take 130 MB with this, in less time.
 */
export class MemoryRelief {
  readonly #session = new Session();
  #bytes = 0;

  constructor() {
    this.#session.connect();
  }

  /** Call it after each file, and wait. */
  async parsed(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#bytes >= RELIEF_EVERY_BYTES) await this.collect();
  }

  async collect(): Promise<void> {
    this.#bytes = 0;
    await new Promise<void>((resolve) => this.#session.post('HeapProfiler.collectGarbage', () => resolve()));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}
