/** Text that is written when it comes, and read when somebody wants it. */
export class TextFeed implements AsyncIterable<string> {
  #waiting: string[] = [];
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(text: string): void {
    this.#waiting.push(text);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** What came before is still read. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for (;;) {
      const text = this.#waiting.join('');
      this.#waiting = [];
      if (text !== '') yield text;
      else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#isOver) return;
      else await this.#woken();
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
