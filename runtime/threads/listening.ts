import type { Clock } from '../protocol/seams.ts';
import type { EventLoop } from './event-loop.ts';

/** How long a thread listens on: enough for the other one to wake up, work and answer. */
const PATIENCE_MS = 0.1;
/** Other ports, timers and the user's own events have their turn after this long. */
const TURN_MS = 5;
/** After waiting in vain again and again, so many messages go by before the next try. */
const LONGEST_PAUSE = 1_024;

/** One end of a link: `take` reads the next post that is here, and says whether one was. */
export interface Listened {
  take(): boolean;
}

export interface ListeningDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly loop: Pick<EventLoop, 'soon' | 'isParallel'>;
  /** Posts what is due. */
  readonly flush: () => void;
}

/**
 * Listens on for some microseconds after a message came, before the thread goes to sleep: where two threads ask and
 * answer in turn, the next message is on its way, and to be woken for it takes longer than to wait.
 *
 * Whether it pays is learnt: each time that nothing came, twice as many messages go by before the next try, as on a
 * machine whose cores are all taken; each time that something came, half as many.
 */
export class Listening {
  readonly #deps: ListeningDeps;
  #to: Listened | undefined;
  #untilMs = 0;
  #turnEndsMs = 0;
  /** Messages that go by after one try, and how many of them still do. */
  #pause = 0;
  #left = 0;

  constructor(deps: ListeningDeps) {
    this.#deps = deps;
  }

  /** A message came from there, as an event of its own, and more may follow. */
  listenTo(other: Listened): void {
    if (this.#to !== undefined || !this.#deps.loop.isParallel) return;
    if (this.#left > 0) {
      this.#left -= 1;
      return;
    }
    const nowMs = this.#deps.clock.monotonicMs();
    this.#to = other;
    this.#untilMs = nowMs + PATIENCE_MS;
    this.#turnEndsMs = nowMs + TURN_MS;
    this.#deps.loop.soon(this.#listen);
  }

  readonly #listen = (): void => {
    const { clock, flush, loop } = this.#deps;
    flush();
    const came = (this.#to as Listened).take();
    const nowMs = clock.monotonicMs();
    if (came) {
      this.#pause >>= 1;
      this.#untilMs = nowMs + PATIENCE_MS;
    } else if (nowMs >= this.#untilMs) {
      this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2 + 1);
      this.#left = this.#pause;
      this.#to = undefined;
      return;
    }
    if (nowMs >= this.#turnEndsMs) this.#to = undefined;
    else loop.soon(this.#listen);
  };
}
