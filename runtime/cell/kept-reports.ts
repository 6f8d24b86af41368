/** So much of what one envelope's handler reports is remembered with its answer, as JSON. */
const MAX_BYTES = 1024 * 1024;

/**
 * What was reported in between to an asker that may ask again: the newest, as far as it is not too much. `dropped`: how many
 * came before them.
 */
export class KeptReports {
  readonly #sizes: number[] = [];
  readonly #items: unknown[] = [];
  #bytes = 0;
  dropped: number;

  constructor(dropped = 0) {
    this.dropped = dropped;
  }

  /** The oldest first. */
  get items(): readonly unknown[] {
    return this.#items;
  }

  add(what: unknown): void {
    const size = Buffer.byteLength(JSON.stringify(what));
    this.#items.push(what);
    this.#sizes.push(size);
    this.#bytes += size;
    while (this.#bytes > MAX_BYTES) {
      this.#items.shift();
      this.#bytes -= this.#sizes.shift() ?? 0;
      this.dropped += 1;
    }
  }
}
