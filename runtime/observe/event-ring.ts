import { invalidOptions } from '../protocol/errors.ts';

/** Keeps the last `capacity` items; a new one replaces the oldest. */
export class EventRing<T> {
  readonly #capacity: number;
  readonly #items: T[] = [];
  #oldest = 0;
  #dropped = 0;

  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw invalidOptions('eventRing.capacity', capacity, 'a whole number above 0');
    }
    this.#capacity = capacity;
  }

  /** How many were replaced since the beginning. */
  get dropped(): number {
    return this.#dropped;
  }

  push(item: T): void {
    if (this.#items.length < this.#capacity) {
      this.#items.push(item);
      return;
    }
    this.#items[this.#oldest] = item;
    this.#oldest = this.#oldest + 1 === this.#capacity ? 0 : this.#oldest + 1;
    this.#dropped += 1;
  }

  /** What is kept, oldest first. */
  toArray(): T[] {
    return [...this.#items.slice(this.#oldest), ...this.#items.slice(0, this.#oldest)];
  }
}
