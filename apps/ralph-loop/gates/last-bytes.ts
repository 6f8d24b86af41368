/** Keeps the last bytes of a stream, in memory of this size and no more. */
export class LastBytes {
  readonly #size: number;
  #ring: Buffer | undefined;
  #total = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** How many bytes have come. */
  get total(): number {
    return this.#total;
  }

  /** How many of them are kept. */
  get kept(): number {
    return Math.min(this.#total, this.#size);
  }

  add(part: Uint8Array): void {
    this.#ring ??= Buffer.alloc(this.#size);
    const fitting = part.subarray(Math.max(0, part.length - this.#size));
    const at = (this.#total + part.length - fitting.length) % this.#size;
    const before = fitting.subarray(0, this.#size - at);
    this.#ring.set(before, at);
    this.#ring.set(fitting.subarray(before.length), 0);
    this.#total += part.length;
  }

  /** What is kept, in order. */
  parts(): Uint8Array[] {
    if (this.#ring === undefined) return [];
    if (this.#total <= this.#size) return [this.#ring.subarray(0, this.#total)];
    const at = this.#total % this.#size;
    return [this.#ring.subarray(at), this.#ring.subarray(0, at)];
  }
}
