/** Items one after the other, which whoever takes them need not wait for: the next one is asked for ahead. */
export class ArrivingItems<Item> {
  readonly #items: AsyncIterator<Item>;
  #isAsked = false;
  #arrived: IteratorResult<Item> | undefined;
  #fault: { readonly error: unknown } | undefined;
  #wake = (): void => undefined;

  constructor(items: AsyncIterable<Item>) {
    this.#items = items[Symbol.asyncIterator]();
  }

  /** Something can be taken. */
  get isThere(): boolean {
    return this.#arrived !== undefined || this.#fault !== undefined;
  }

  /** The next one, or the end, if that is there already. Throws as the items do. */
  take(): IteratorResult<Item> | undefined {
    if (!this.#isAsked) this.#ask();
    if (this.#fault !== undefined) throw this.#fault.error;
    const arrived = this.#arrived;
    if (arrived === undefined || arrived.done === true) return arrived;
    this.#arrived = undefined;
    this.#isAsked = false;
    return arrived;
  }

  /** Resolves when the next one is there, the items fail, or somebody wakes whoever waits. */
  wait(): Promise<void> {
    if (!this.#isAsked) this.#ask();
    if (this.isThere) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake();
  }

  /** Nobody takes any more of them. */
  close(): void {
    this.#items.return?.().catch(() => undefined);
  }

  #ask(): void {
    this.#isAsked = true;
    this.#items.next().then(
      (arrived) => {
        this.#arrived = arrived;
        this.#wake();
      },
      (error: unknown) => {
        this.#fault = { error };
        this.#wake();
      },
    );
  }
}
