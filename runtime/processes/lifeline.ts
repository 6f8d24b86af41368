import type { Duplex } from 'node:stream';
import { USAGE_BYTES } from './file-descriptors.ts';
import type { ProcessUsage } from '../os/proc-usage.ts';

const ASK = Buffer.of(1);

/** The host's end of a process's lifeline: as long as it is open, the process may live. */
export class Lifeline {
  readonly #stream: Duplex;
  #bytes = Buffer.alloc(0);
  #waiting: ((usage: ProcessUsage | undefined) => void)[] = [];

  /** `onCut`: the process let go of it. */
  constructor(stream: Duplex, onCut: () => void) {
    this.#stream = stream;
    stream.on('data', (bytes: Buffer) => this.#take(bytes));
    stream.once('close', () => {
      for (const tell of this.#waiting.splice(0)) tell(undefined);
      onCut();
    });
  }

  /** Asks the watching thread of the process. */
  usage(): Promise<ProcessUsage | undefined> {
    if (this.#stream.destroyed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#stream.write(ASK);
    });
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#bytes.length >= USAGE_BYTES) {
      const [cpuMs, residentBytes] = [this.#bytes.readDoubleLE(0), this.#bytes.readDoubleLE(8)];
      this.#bytes = this.#bytes.subarray(USAGE_BYTES);
      this.#waiting.shift()?.({ cpuMs, residentBytes });
    }
  }
}
