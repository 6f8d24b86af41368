import { STREAM_WINDOW } from '../cell/stream-windows.ts';

/** Chunks of a stream on their way from a process to whoever pumps them on; the process is told how many more it may send. */
export class ChunkQueue {
  readonly #pull: (count: number) => void;
  readonly #chunks: unknown[] = [];
  #promised = 0;
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  constructor(pull: (count: number) => void) {
    this.#pull = pull;
    this.#promise(STREAM_WINDOW);
  }

  /** Throws for more than was asked for. */
  put(chunk: unknown): void {
    if (this.#promised === 0) throw new Error('it streams more than it was asked for');
    this.#promised -= 1;
    this.#chunks.push(chunk);
    this.#wake();
  }

  /** No more chunks come; without an error the stream is whole. */
  end(error: Error | undefined): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *read(): AsyncGenerator<unknown, void, undefined> {
    for (;;) {
      while (this.#chunks.length > 0) {
        yield this.#chunks.shift();
        if (this.#promised + this.#chunks.length <= STREAM_WINDOW / 2) this.#promise(STREAM_WINDOW / 2);
      }
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end !== undefined) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #promise(count: number): void {
    this.#promised += count;
    this.#pull(count);
  }
}
