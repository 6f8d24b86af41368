const DONE = 0;
const EXPECTED = 1;

/**
 * How far a job in the CPU pool has come, in memory that the agent who gave it shares.
 *
 * A pool's task is one call that returns once, and posting messages from it would need a port of its own.
 */
export class ProgressCounter {
  readonly shared: SharedArrayBuffer;
  readonly #cells: Int32Array;

  /** `shared` is another counter's memory; left out, this is a new one. */
  constructor(shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#cells = new Int32Array(shared);
  }

  /** More work has become known. */
  expect(count: number): void {
    Atomics.add(this.#cells, EXPECTED, count);
  }

  advance(): void {
    Atomics.add(this.#cells, DONE, 1);
  }

  get done(): number {
    return Atomics.load(this.#cells, DONE);
  }

  get expected(): number {
    return Atomics.load(this.#cells, EXPECTED);
  }

  /** In [0, 1]; 0 while nothing is known. */
  get fraction(): number {
    return this.expected === 0 ? 0 : Math.min(1, this.done / this.expected);
  }
}
