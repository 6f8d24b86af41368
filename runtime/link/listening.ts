import type { Clock, EventLoop } from '../protocol/seams.ts';

/**
 * How threads listen, by how the platform waits: spinning or asleep.
 *
 * - `patienceMs`  how long a thread listens on: long enough for the other one to work and answer. Asleep it occupies no core,
 *                 but a timer shorter than the kernel's tick would cost more than everything else.
 * - `firstPause`  messages that pass after a vain wait before the next try: about as many as must arrive sooner to make up
 *                 for the wait.
 */
const MANNERS = {
  awake: { patienceMs: 0.1, firstPause: 1 },
  asleep: { patienceMs: 2, firstPause: 128 },
} as const;

/** After so many milliseconds other ports, timers and the user's own events get their turn. */
const TURN_MS = 5;
/** The most messages that pass between two tries, however often a wait was in vain. */
const LONGEST_PAUSE = 1_024;

/**
 * One end of a link. Both methods read the next post and say whether there was one.
 *
 * - `take`   reads it if it is here already.
 * - `await`  blocks the thread until it is here, at most so long.
 */
export interface Listened {
  take(): boolean;
  await(ms: number): boolean;
}

export interface ListeningDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly loop: Pick<EventLoop, 'soon' | 'listens'>;
  /** Posts what waits. */
  readonly flush: () => void;
}

/**
 * Listens on for a moment after a message, before the thread goes back to its event loop. Where two threads ask and answer in
 * turn, the next message is on its way, and waking through the event loop takes longer than waiting.
 *
 * It learns whether that pays. Each time that nothing came, as on a machine whose cores are all busy, twice as many messages
 * pass before the next try. Each time that something came, half as many do.
 */
export class Listening {
  readonly #deps: ListeningDeps;
  readonly #manner: (typeof MANNERS)['awake' | 'asleep'];
  #to: Listened | undefined;
  #untilMs = 0;
  #turnEndsMs = 0;
  /** Messages that pass after one try. */
  #pause = 0;
  /** How many of these still have to pass. */
  #left = 0;

  constructor(deps: ListeningDeps) {
    this.#deps = deps;
    this.#manner = MANNERS[deps.loop.listens === 'asleep' ? 'asleep' : 'awake'];
  }

  /** Called when a message came from `other` through the event loop: more may follow. */
  listenTo(other: Listened): void {
    const { clock, loop } = this.#deps;
    if (this.#to !== undefined || loop.listens === 'never') return;
    if (this.#left > 0) {
      this.#left -= 1;
      return;
    }
    const nowMs = clock.monotonicMs();
    this.#to = other;
    this.#untilMs = nowMs + this.#manner.patienceMs;
    this.#turnEndsMs = nowMs + TURN_MS;
    loop.soon(this.#listen);
  }

  readonly #listen = (): void => {
    const { clock, flush, loop } = this.#deps;
    const { patienceMs, firstPause } = this.#manner;
    flush();
    const other = this.#to as Listened;
    const came = loop.listens === 'asleep' ? other.await(patienceMs) : other.take();
    const nowMs = clock.monotonicMs();
    if (came) {
      this.#pause >>= 1;
      this.#untilMs = nowMs + patienceMs;
    } else if (nowMs >= this.#untilMs) {
      this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2 + firstPause);
      this.#left = this.#pause;
      this.#to = undefined;
      return;
    }
    if (nowMs >= this.#turnEndsMs) this.#to = undefined;
    else loop.soon(this.#listen);
  };
}
