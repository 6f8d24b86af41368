import type { Turn } from '../host-frame.ts';
import type { GivenWork } from './child-handling.ts';

/** Which envelope the code begins on, and when: one after the other, but for such as cannot wait for that. */
export class WorkQueue {
  readonly #run: (work: GivenWork) => void;
  #waiting: GivenWork[] = [];
  /** Whose turn it is; what is run in between does not count. */
  #current: number | undefined;
  #isRunning = false;
  #isStopped = false;

  constructor(run: (work: GivenWork) => void) {
    this.#run = run;
  }

  add(work: GivenWork, turn: Turn): void {
    if (this.#isStopped) return;
    if (turn === 'between') this.#run(work);
    else if (turn === 'next' && this.#current !== undefined) this.#waiting.push(work);
    else this.#begin(work);
  }

  /** It cannot wait: the one whose turn it is waits for it. */
  runNow(n: number): void {
    const work = this.#take(n);
    if (work !== undefined) this.#run(work);
  }

  /** True when it waited: it will not be run. */
  drop(n: number): boolean {
    return this.#take(n) !== undefined;
  }

  /** It is handled; the next one's turn begins, after the code that runs now. */
  done(n: number): void {
    if (n !== this.#current) return;
    this.#current = undefined;
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#begin(next);
      if (this.#current !== undefined) break;
    }
    this.#isRunning = false;
  }

  /** Nothing more is begun. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
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
