const SMALLEST = 8;
/** The items of every empty queue. */
const NO_ITEMS: readonly [] = [];

/**
 * A first-in first-out queue that grows with its content, and gives the memory back after a flood.
 *
 * `push`, `shift`, `peek` and `at` cost constant time; an empty queue holds nothing, since most mailboxes are empty.
 */
export class Fifo<T> {
  // A ring whose size is zero or a power of two.
  #items: (T | undefined)[] = NO_ITEMS as never;
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.#items.length) this.#resize(Math.max(SMALLEST, this.#length * 2));
    this.#items[(this.#head + this.#length) & (this.#items.length - 1)] = item;
    this.#length += 1;
  }

  /** Puts `item` in front of all others. */
  unshift(item: T): void {
    if (this.#length === this.#items.length) this.#resize(Math.max(SMALLEST, this.#length * 2));
    this.#head = (this.#head - 1) & (this.#items.length - 1);
    this.#items[this.#head] = item;
    this.#length += 1;
  }

  /** Takes the oldest; undefined when empty. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#items.length - 1);
    this.#length -= 1;
    this.#giveBack();
    return item;
  }

  /** The oldest, left in its place; undefined when empty. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  /** The item at `index`, 0 being the oldest; undefined outside. */
  at(index: number): T | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    return this.#items[(this.#head + index) & (this.#items.length - 1)];
  }

  /** Takes out the item at `index`; the others keep their order. Undefined outside. Moves every younger item. */
  removeAt(index: number): T | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    const mask = this.#items.length - 1;
    const item = this.#items[(this.#head + index) & mask];
    for (let at = index; at < this.#length - 1; at++) {
      this.#items[(this.#head + at) & mask] = this.#items[(this.#head + at + 1) & mask];
    }
    this.#length -= 1;
    this.#items[(this.#head + this.#length) & mask] = undefined;
    this.#giveBack();
    return item;
  }

  clear(): void {
    this.#items = NO_ITEMS as never;
    this.#head = 0;
    this.#length = 0;
  }

  /** Halves the ring when an eighth is in use: far enough from where it doubles that they do not alternate. */
  #giveBack(): void {
    const size = this.#items.length;
    if (size > SMALLEST && this.#length * 8 <= size) this.#resize(size / 2);
  }

  #resize(size: number): void {
    const items = new Array<T | undefined>(size).fill(undefined);
    const mask = this.#items.length - 1;
    for (let index = 0; index < this.#length; index++) {
      items[index] = this.#items[(this.#head + index) & mask];
    }
    this.#items = items;
    this.#head = 0;
  }
}
