import type { Cell } from '../cell/cell.ts';
import type { StartedNotes } from '../journal/started-ring.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { Clock, EventLoop } from '../protocol/seams.ts';

/** Mails that are begun on within so long are noted together. */
const TOGETHER_MS = 0.2;
/** As many at most. */
const MOST = 32;

export interface StartsDeps {
  readonly notes: StartedNotes;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly loop: Pick<EventLoop, 'yieldTurn'>;
}

/** Whose mails they are, those in hand and those that wait. */
export type Beginner = Pick<Cell, 'mails'>;

/** How many mails of an agent are noted at once, and when that was last done. */
interface Pace {
  count: number;
  atMs: number;
}

/**
 * Notes what the cells of one thread begin on, before they do.
 *
 * Each note costs a system call. So where an agent was quick, those in its mailbox that it will begin on within the next
 * 0.2 ms are noted along; those that it did not come to are taken back when the event loop turns. A process that ends in
 * between is thought to have begun on them: one envelope where handlers take longer, some where they are faster.
 */
export class Starts {
  readonly #deps: StartsDeps;
  readonly #paces = new WeakMap<Beginner, Pace>();
  /** Noted, and not begun on. */
  readonly #ahead = new Set<number>();
  #isWatching = false;

  constructor(deps: StartsDeps) {
    this.#deps = deps;
  }

  /** Noted, and not begun on. */
  get ahead(): readonly number[] {
    return [...this.#ahead];
  }

  /** `cell` begins on a mail that is kept. */
  begin(cell: Beginner, { kept }: Mail): void {
    if (this.#ahead.delete(kept)) return;
    const count = this.#paceOf(cell);
    const numbers = count === 1 ? [kept] : [kept, ...this.#next(cell, count - 1)];
    this.#deps.notes.note(numbers);
    for (let at = 1; at < numbers.length; at++) this.#ahead.add(numbers[at] as number);
    if (numbers.length > 1) this.#watch();
  }

  /** Takes back what was noted and not begun on. */
  readonly takeBack = (): void => {
    this.#isWatching = false;
    if (this.#ahead.size === 0) return;
    this.#deps.notes.retract([...this.#ahead]);
    this.#ahead.clear();
  };

  /** How many are noted now: twice as many as before if these were begun on in no time. */
  #paceOf(cell: Beginner): number {
    const atMs = this.#deps.clock.monotonicMs();
    const pace = this.#paces.get(cell);
    if (pace === undefined) {
      this.#paces.set(cell, { count: 1, atMs });
      return 1;
    }
    pace.count = atMs - pace.atMs < TOGETHER_MS ? Math.min(MOST, pace.count * 2) : 1;
    pace.atMs = atMs;
    return pace.count;
  }

  /** Numbers of those that wait for the cell and are not noted, at most so many. */
  #next(cell: Beginner, count: number): number[] {
    const numbers: number[] = [];
    for (const { kept, wasInHand } of cell.mails()) {
      if (numbers.length === count) break;
      if (kept > 0 && !wasInHand && !this.#ahead.has(kept)) numbers.push(kept);
    }
    return numbers;
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#deps.loop.yieldTurn(this.takeBack);
  }
}
