/** - `most` how many are wanted. - `takes` which places are meant: it is asked only of those that are high enough. */
export interface Wanted {
  readonly most: number;
  readonly takes: (place: number) => boolean;
}

/** The places with the highest scores above 0, in no order. */
export function highestPlaces(scores: Float32Array, { most, takes }: Wanted): readonly number[] {
  const heap = new LowestFirst(most);
  let floor = 0;
  for (let place = 0; place < scores.length; place++) {
    const score = scores[place] as number;
    if (score <= floor || !takes(place)) continue;
    heap.add(place, score);
    floor = heap.floor;
  }
  return heap.places;
}

/** The places with the highest scores so far: a heap whose root is the lowest of them. */
class LowestFirst {
  readonly #room: number;
  readonly #places: number[] = [];
  readonly #scores: number[] = [];

  constructor(room: number) {
    this.#room = room;
  }

  get places(): readonly number[] {
    return this.#places;
  }

  /** What a score must be above to be among them. */
  get floor(): number {
    return this.#scores.length < this.#room ? 0 : (this.#scores[0] as number);
  }

  add(place: number, score: number): void {
    if (this.#scores.length < this.#room) this.#rise(this.#scores.length, place, score);
    else this.#sink(place, score);
  }

  #rise(from: number, place: number, score: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if ((this.#scores[above] as number) <= score) break;
      this.#move(above, at);
      at = above;
    }
    this.#put(at, place, score);
  }

  #sink(place: number, score: number): void {
    const { length } = this.#scores;
    let at = 0;
    for (let below = 1; below < length; below = 2 * at + 1) {
      const other = below + 1;
      const lower =
        other < length && (this.#scores[other] as number) < (this.#scores[below] as number) ? other : below;
      if ((this.#scores[lower] as number) >= score) break;
      this.#move(lower, at);
      at = lower;
    }
    this.#put(at, place, score);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#places[from] as number, this.#scores[from] as number);
  }

  #put(at: number, place: number, score: number): void {
    this.#places[at] = place;
    this.#scores[at] = score;
  }
}
