import type { TaskChange } from '../../runtime/protocol/task.ts';

/** What changes are read from. `onNews`: calls once, when there are more, or there will be none. */
export interface ChangeSource {
  readonly isEnded: boolean;
  readonly failure: Error | undefined;
  published(index: number): TaskChange | undefined;
  onNews(tell: () => void): void;
  offNews(tell: () => void): void;
}

type Taken = IteratorResult<TaskChange, void>;

interface Reader {
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: Error) => void;
}

const DONE: Taken = { done: true, value: undefined };

/**
 * Changes after one number, as they are kept, until there will be none, or `signal` aborts. Rejects when the source fails.
 *
 * By hand rather than a generator: `return` ends whatever waits for the next one, where a generator would wait for it first.
 */
export class TaskChanges implements AsyncGenerator<TaskChange, void> {
  readonly #source: ChangeSource;
  readonly #signal: AbortSignal | undefined;
  #at: number;
  #isOver = false;
  #isListening = false;
  /** Who waits for the next ones, the first first. */
  #readers: Reader[] | undefined;

  constructor(source: ChangeSource, after: number, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#at = after;
    this.#signal = signal;
  }

  next(): Promise<Taken> {
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.#readers !== undefined) this.#readers.push(reader);
      else if (!this.#answer(reader)) this.#await(reader);
    });
  }

  return(): Promise<Taken> {
    this.#end();
    return Promise.resolve(DONE);
  }

  throw(error: unknown): Promise<Taken> {
    this.#end();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }

  /** False when there is nothing to say yet. */
  #answer({ resolve, reject }: Reader): boolean {
    if (this.#signal?.aborted === true) this.#end();
    if (this.#isOver) {
      resolve(DONE);
      return true;
    }
    const { failure, isEnded } = this.#source;
    const value = this.#source.published(this.#at);
    if (value !== undefined) {
      this.#at += 1;
      resolve({ done: false, value });
      return true;
    }
    if (!isEnded && failure === undefined) return false;
    this.#end();
    if (failure === undefined) resolve(DONE);
    else reject(failure);
    return true;
  }

  #await(reader: Reader): void {
    this.#readers = [reader];
    this.#source.onNews(this.#hear);
    if (this.#isListening) return;
    this.#isListening = true;
    this.#signal?.addEventListener('abort', this.#stop);
  }

  readonly #hear = (): void => {
    const readers = this.#readers ?? [];
    for (let first = readers.shift(); first !== undefined; first = readers.shift()) {
      if (this.#answer(first)) continue;
      readers.unshift(first);
      return this.#source.onNews(this.#hear);
    }
    this.#readers = undefined;
  };

  readonly #stop = (): void => this.#end();

  /** Whoever waits is told that nothing follows. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#isListening) this.#signal?.removeEventListener('abort', this.#stop);
    const readers = this.#readers;
    if (readers === undefined) return;
    this.#readers = undefined;
    this.#source.offNews(this.#hear);
    for (const { resolve } of readers) resolve(DONE);
  }
}
