/** Handlers of the loss of a connection. Each is called once, and never within the call to `tell`. */
export class LossHandlers {
  readonly #handlers = new Set<(reason: string) => void>();

  /** Returns what removes the handler. A handler that is added twice is called twice. */
  add(handler: (reason: string) => void): () => void {
    const own = (reason: string): void => handler(reason);
    this.#handlers.add(own);
    return () => {
      this.#handlers.delete(own);
    };
  }

  /** Calls the handlers of this moment in the next microtask. Handlers that are added later wait for the next call. */
  tell(reason: string): void {
    queueMicrotask(() => {
      const handlers = [...this.#handlers];
      this.#handlers.clear();
      for (const handler of handlers) handler(reason);
    });
  }
}
