import type { Turn } from '../host-frame.ts';
import type { GivenWork } from './child-handling.ts';

/** Which envelope the code begins on, and when: one after the other, but for such as cannot wait for that. */
export class WorkQueue {
  readonly #run: (work: GivenWork) => void;
  #waiting: GivenWork[] = [];
  /** Whose turn it is. */
  #current: number | undefined;
  /** What is run in between and not over; it may outlast whose turn it was. */
  readonly #between = new Set<number>();
  #isRunning = false;
  #isStopped = false;

  constructor(run: (work: GivenWork) => void) {
    this.#run = run;
  }

  add(work: GivenWork, turn: Turn): void {
    if (this.#isStopped) return;
    if (turn === 'between') this.#runBetween(work);
    else if (turn === 'next' && this.#isBusy) this.#waiting.push(work);
    else this.#begin(work);
  }

  /** It cannot wait: the one whose turn it is waits for it. */
  runNow(n: number): void {
    const work = this.#take(n);
    if (work !== undefined) this.#runBetween(work);
  }

  /** True when it waited: it will not be run. */
  drop(n: number): boolean {
    return this.#take(n) !== undefined;
  }

  /**
   * It is handled. When nothing is in hand any more the next one's turn begins, after the code that runs now: the host looks at
   * what that says only when all before it is over.
   */
  done(n: number): void {
    if (n === this.#current) this.#current = undefined;
    else if (!this.#between.delete(n)) return;
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (!this.#isBusy) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#begin(next);
    }
    this.#isRunning = false;
  }

  /** Nothing more is begun. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  get #isBusy(): boolean {
    return this.#current !== undefined || this.#between.size > 0;
  }

  #runBetween(work: GivenWork): void {
    this.#between.add(work.n);
    this.#run(work);
  }

  #begin(work: GivenWork): void {
    this.#current = work.n;
    this.#run(work);
  }

  #take(n: number): GivenWork | undefined {
    const at = this.#waiting.findIndex((work) => work.n === n);
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
  }
}
