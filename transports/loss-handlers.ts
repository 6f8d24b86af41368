/** Who is to hear that a connection is lost: each once, and never within the call that says so. */
export class LossHandlers {
  readonly #handlers = new Set<(reason: string) => void>();

  /** The returned function takes it back; a handler that is given twice is two. */
  add(handler: (reason: string) => void): () => void {
    const own = (reason: string): void => handler(reason);
    this.#handlers.add(own);
    return () => {
      this.#handlers.delete(own);
    };
  }

  /** Tells those who are there in a moment; who comes later is told by the next call. */
  tell(reason: string): void {
    queueMicrotask(() => {
      const handlers = [...this.#handlers];
      this.#handlers.clear();
      for (const handler of handlers) handler(reason);
    });
  }
}
