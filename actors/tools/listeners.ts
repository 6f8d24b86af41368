/** Those who want to hear of something. One that fails keeps nobody else from hearing of it. */
export class Listeners<Told> {
  readonly #listeners = new Set<{ readonly hear: (told: Told) => unknown }>();
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Until the returned function is called; each time it is given counts. */
  add(hear: (told: Told) => unknown): () => void {
    const listener = { hear };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  clear(): void {
    this.#listeners.clear();
  }

  tell(told: Told): void {
    for (const { hear } of [...this.#listeners]) {
      try {
        const heard = hear(told);
        if (heard instanceof Promise) heard.catch(this.#onFault);
      } catch (error) {
        this.#onFault(error);
      }
    }
  }
}
