interface Waiting {
  readonly begin: () => void;
  readonly leave: () => void;
}

/** Lets at most `most` at once through; the others wait in the order in which they came. */
export class Semaphore {
  readonly #most: number;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves to true when it is the caller's turn, who must `end` it; to false when it will not be any more. */
  take(signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    if (this.#taken < this.#most) {
      this.#taken += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (isTurn: boolean) => () => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener('abort', waiting.leave);
        resolve(isTurn);
      };
      const waiting: Waiting = { begin: settle(true), leave: settle(false) };
      this.#waiting.add(waiting);
      signal?.addEventListener('abort', waiting.leave, { once: true });
    });
  }

  /** Ends a turn: the next in line has it. */
  end(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken -= 1;
    else next.begin();
  }

  /** Sends everybody away who waits. */
  dismiss(): void {
    for (const { leave } of [...this.#waiting]) leave();
  }
}
