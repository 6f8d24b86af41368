/** A list of listeners. One that fails does not keep the others from being called. */
export class Listeners<Told> {
  readonly #listeners = new Set<{ readonly hear: (told: Told) => unknown }>();
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Adds a listener, and returns what removes it. One that is added twice is called twice. */
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
