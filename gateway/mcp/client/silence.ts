import type { Clock } from '../../../runtime/protocol/seams.ts';

interface Listened {
  readonly end: () => void;
  stop: () => void;
}

/**
 * Times out requests that a server is silent about. No time passes while the server waits for an answer from here, such as
 * one of a person.
 */
export class Silence {
  readonly #clock: Pick<Clock, 'setTimer'>;
  readonly #silenceMs: number;
  readonly #listened = new Set<Listened>();
  #answering = 0;

  constructor(clock: Pick<Clock, 'setTimer'>, silenceMs: number) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
  }

  /** Calls `end` once nothing was heard for `silenceMs`, counted from now or from the last `heard`. */
  listen(end: () => void): { heard(): void; stop(): void } {
    const one: Listened = { end, stop: () => undefined };
    this.#listened.add(one);
    this.#begin(one);
    return {
      heard: () => this.#begin(one),
      stop: () => {
        this.#listened.delete(one);
        one.stop();
      },
    };
  }

  /** Runs an answer to the server. All timeouts start anew when it is done. */
  async whileAnswering<Answer>(answer: () => Answer | Promise<Answer>): Promise<Answer> {
    this.#answering += 1;
    for (const one of this.#listened) one.stop();
    try {
      return await answer();
    } finally {
      this.#answering -= 1;
      for (const one of this.#listened) this.#begin(one);
    }
  }

  #begin(one: Listened): void {
    one.stop();
    if (this.#answering > 0 || !this.#listened.has(one)) return;
    one.stop = this.#clock.setTimer(this.#silenceMs, one.end);
  }
}
