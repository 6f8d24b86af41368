import { DotProducts, SHORT_DIMENSIONS } from './dot-products.ts';
import { cosine, type Vector } from './vector.ts';

const NOTHING = new Int8Array(SHORT_DIMENSIONS);

/** Where texts are found by their meaning, each at the place that it has in a `TextIndex`. */
export class VectorIndex {
  readonly #short = new DotProducts();
  readonly #vectors: (Pick<Vector, 'whole' | 'scale'> | undefined)[] = [];

  /** Puts in the vector of the text at a place. */
  set(place: number, { whole, scale, short }: Vector): void {
    this.#short.set(place, short);
    this.#vectors[place] = { whole, scale };
  }

  remove(place: number): void {
    if (this.#vectors[place] === undefined) return;
    this.#short.set(place, NOTHING);
    this.#vectors[place] = undefined;
  }

  /** How near the text at each place is, about: larger is nearer, 0 is no vector. It is overwritten by the next query. */
  nearness({ short }: Vector): Int32Array {
    return this.#short.with(short, this.#vectors.length);
  }

  /** The cosine of the angle between a vector and the text at a place, -1 to 1; null if there is none, or of another model. */
  cosine(vector: Vector, place: number): number | null {
    const its = this.#vectors[place];
    return its === undefined || its.whole.length !== vector.whole.length ? null : cosine(vector, its);
  }
}
