/**
 * One property of the mails of a batch. Most have the same value in all of them: such a column is that one value.
 *
 * Values that are arrays or objects are never taken to be the same.
 */
export class Column<Value> {
  #values: Value[] | undefined;
  #first: Value | undefined;
  #count = 0;

  push(value: Value): void {
    const count = this.#count++;
    if (this.#values !== undefined) this.#values.push(value);
    else if (count === 0 && typeof value !== 'object') this.#first = value;
    else if (value !== this.#first) {
      const values = new Array<Value>(count).fill(this.#first as Value);
      values.push(value);
      this.#values = values;
    }
  }

  /** What was pushed, or the one value of all; the column is empty then. */
  take(): Value[] | Value | undefined {
    const taken = this.#values ?? this.#first;
    this.#values = undefined;
    this.#first = undefined;
    this.#count = 0;
    return taken;
  }

  /** What was pushed, written out. */
  takeAll(): Value[] {
    const values = this.#values ?? new Array<Value>(this.#count).fill(this.#first as Value);
    this.take();
    return values;
  }
}

/** The value at a position of a taken column. */
export const entry = (column: unknown, at: number): unknown => (Array.isArray(column) ? column[at] : column);
