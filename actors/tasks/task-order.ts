/** Something with a place in an order, and what it had before that does not count any more. */
interface Place<Item> {
  readonly turn: number;
  readonly item: Item;
}

/**
 * Items by when they were last touched, the newest first. Touching one and reading a page cost the same however many there
 * are; a page goes on where the last one ended, whatever was touched meanwhile.
 */
export class TouchOrder<Item> {
  /** By turn; a place whose item was touched since is stale. */
  #places: Place<Item>[] = [];
  readonly #turns = new Map<Item, number>();
  /** All places before it are stale. */
  #first = 0;

  get size(): number {
    return this.#turns.size;
  }

  has(item: Item): boolean {
    return this.#turns.has(item);
  }

  /** `turn` is greater than that of any touch before. */
  touch(item: Item, turn: number): void {
    this.#turns.set(item, turn);
    this.#places.push({ turn, item });
    this.#sweepIfDue();
  }

  remove(item: Item): void {
    this.#turns.delete(item);
    this.#sweepIfDue();
  }

  /** The newest that were last touched before `turn`, which is left out of the first page. */
  *before(
    turn: number = Number.POSITIVE_INFINITY,
  ): Generator<{ readonly item: Item; readonly turn: number }> {
    for (let at = this.#indexOf(turn) - 1; at >= 0; at--) {
      const place = this.#places[at] as Place<Item>;
      if (this.#turns.get(place.item) === place.turn) yield place;
    }
  }

  /** How many of the newest there are until the first for which this does not hold. */
  countWhile(holds: (item: Item) => boolean): number {
    let count = 0;
    for (const { item } of this.before()) {
      if (!holds(item)) break;
      count += 1;
    }
    return count;
  }

  /** The one that was not touched for longest. */
  oldest(): Item | undefined {
    for (; this.#first < this.#places.length; this.#first++) {
      const { item, turn } = this.#places[this.#first] as Place<Item>;
      if (this.#turns.get(item) === turn) return item;
    }
    return undefined;
  }

  /** How many places have a turn below this one. */
  #indexOf(turn: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as Place<Item>).turn < turn) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Stale places are never more than those that count, so looking for one that counts takes few steps on average. */
  #sweepIfDue(): void {
    if (this.#places.length <= 2 * this.#turns.size + 16) return;
    this.#first = 0;
    this.#places = this.#places.filter(({ item, turn }) => this.#turns.get(item) === turn);
  }
}
