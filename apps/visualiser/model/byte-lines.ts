/** The most that a piece of memory has in which lines are kept; the first ones are smaller. */
const PIECE = 4 * 1024 * 1024;
const FIRST_PIECE = 64 * 1024;

/** Lines of bytes, kept together in few large pieces: a million of them cost little more than their bytes. */
export class ByteLines {
  readonly #pieces: Uint8Array[] = [];
  #room = 0;
  #used = 0;
  #starts = new Float64Array(1_024);
  #lengths = new Uint32Array(1_024);
  #count = 0;
  #bytes = 0;

  get length(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(line: Uint8Array): void {
    if (this.#used + line.length > this.#room) {
      this.#room = Math.max(Math.min(PIECE, Math.max(FIRST_PIECE, this.#bytes)), line.length);
      this.#pieces.push(new Uint8Array(this.#room));
      this.#used = 0;
    }
    const piece = this.#pieces.length - 1;
    this.#pieces[piece]?.set(line, this.#used);
    if (this.#count === this.#starts.length) {
      this.#starts = grown(this.#starts, new Float64Array(this.#count * 2));
      this.#lengths = grown(this.#lengths, new Uint32Array(this.#count * 2));
    }
    // A line that needs a longer piece stands at its beginning.
    this.#starts[this.#count] = piece * PIECE + this.#used;
    this.#lengths[this.#count] = line.length;
    this.#count += 1;
    this.#bytes += line.length;
    this.#used += line.length;
  }

  at(index: number): Uint8Array | undefined {
    const start = this.#starts[index];
    if (index >= this.#count || start === undefined) return undefined;
    const within = start % PIECE;
    return this.#pieces[Math.floor(start / PIECE)]?.subarray(within, within + (this.#lengths[index] ?? 0));
  }
}

function grown<T extends Float64Array | Uint32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
