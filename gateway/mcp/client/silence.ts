import type { Clock } from '../../../runtime/protocol/seams.ts';

interface Listened {
  readonly end: () => void;
  stop: () => void;
}

/**
 * How long a server says nothing of what it was asked. While it waits for an answer from here, of a person for example, it is
 * not the server that is silent: then no time passes for whatever it was asked.
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

  /** Calls `end` when it has been silent for too long since this, or since `heard`. */
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

  /** Answers what the server asks; its silence begins anew when that is done. */
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
