import type { Remembered } from './history.ts';

/**
 * Gives the journal what it is to remember: one lot at a time, so no more is under way than one. Whoever gives has to wait
 * for that, or to count what it could not give.
 */
export class HistoryPost {
  readonly #remember: (remembered: Remembered) => Promise<void>;
  #isBusy = false;
  #missed = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(remember: (remembered: Remembered) => Promise<void>) {
    this.#remember = remember;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Counts entries that could not be given. */
  miss(count: number): void {
    this.#missed += count;
  }

  /** Gives entries, unless it is busy or there is nothing to give. */
  give(entries: Omit<Remembered, 'missed'>): void {
    const count = Object.values(entries).reduce((sum, texts) => sum + texts.length, 0);
    const missed = this.#missed;
    if (this.#isBusy || (count === 0 && missed === 0)) return;
    this.#isBusy = true;
    this.#missed = 0;
    this.#last = this.#remember({ ...entries, missed })
      .catch(() => this.miss(count + missed))
      .then(() => {
        this.#isBusy = false;
      });
  }

  /** Gives the last of it, also while another lot is under way. What of that does not arrive nobody can be told any more. */
  giveLast(entries: Omit<Remembered, 'missed'>): void {
    const missed = this.#missed;
    this.#missed = 0;
    this.#last = this.#remember({ ...entries, missed }).catch(() => undefined);
  }

  /** Resolves when what was given has arrived. */
  whenGiven(): Promise<void> {
    return this.#last;
  }
}
