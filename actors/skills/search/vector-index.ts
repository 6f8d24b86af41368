import { DotProducts, SHORT_DIMENSIONS } from './dot-products.ts';
import { cosine, type Vector } from './vector.ts';

const NOTHING = new Int8Array(SHORT_DIMENSIONS);
const NO_VECTOR = -1;
const BLOCK = 1024 * 1024;

/** Where texts are found by their meaning, each at the place that it has in a `TextIndex`. It keeps copies of what it is given. */
export class VectorIndex {
  readonly #short = new DotProducts();
  /** The numbers of whole vectors, many in one array: they are reached twice as fast as in an array for each. */
  readonly #blocks: Int8Array[] = [];
  #filled = BLOCK;
  /** By place: at which number of all blocks its whole vector begins, how many it has, and its scale. */
  readonly #begins: number[] = [];
  readonly #dimensions: number[] = [];
  readonly #scales: number[] = [];

  /** Puts in the vector of the text at a place. */
  set(place: number, { whole, scale, short }: Vector): void {
    this.#short.set(place, short);
    if (this.#dimensions[place] !== whole.length) this.#makeRoom(place, whole.length);
    this.#wholeAt(place, whole.length).set(whole);
    this.#scales[place] = scale;
  }

  remove(place: number): void {
    if ((this.#dimensions[place] ?? NO_VECTOR) === NO_VECTOR) return;
    this.#short.set(place, NOTHING);
    this.#dimensions[place] = NO_VECTOR;
  }

  /** How near the text at each place is, about: larger is nearer, 0 is no vector. It is overwritten by the next query. */
  nearness({ short }: Vector): Float32Array {
    return this.#short.with(short, this.#dimensions.length);
  }

  /** The cosine of the angle between a vector and the text at a place, -1 to 1; null if there is none, or of another model. */
  cosine(vector: Vector, place: number): number | null {
    const dimensions = this.#dimensions[place];
    if (dimensions !== vector.whole.length) return null;
    const whole = this.#wholeAt(place, dimensions);
    return cosine(vector, { whole, scale: this.#scales[place] as number });
  }

  #makeRoom(place: number, dimensions: number): void {
    if (this.#filled + dimensions > BLOCK) {
      this.#blocks.push(new Int8Array(Math.max(BLOCK, dimensions)));
      this.#filled = 0;
    }
    this.#begins[place] = (this.#blocks.length - 1) * BLOCK + this.#filled;
    this.#dimensions[place] = dimensions;
    this.#filled += dimensions;
  }

  #wholeAt(place: number, dimensions: number): Int8Array {
    const begins = this.#begins[place] as number;
    const from = begins % BLOCK;
    return (this.#blocks[Math.floor(begins / BLOCK)] as Int8Array).subarray(from, from + dimensions);
  }
}
