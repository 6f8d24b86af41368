/** Steps one after the other, in the order in which they were given; after one that fails none is taken. */
export class InOrder {
  #last: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Takes a step that cannot wait at once, if none is before it. */
  addNow(step: () => void): void {
    if (this.#last === undefined && this.#failure === undefined) step();
    else this.add(async () => step());
  }

  add(step: () => Promise<void>): void {
    const before = this.#last;
    const last = this.#take(before, step).then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
  }

  /** Resolves when all steps are taken. Rejects with what one of them has failed with. */
  async whenDone(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #take(before: Promise<void> | undefined, step: () => Promise<void>): Promise<void> {
    await before;
    if (this.#failure !== undefined) return;
    try {
      await step();
    } catch (error) {
      this.#failure = { error };
    }
  }
}
