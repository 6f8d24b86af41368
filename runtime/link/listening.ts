import type { Clock, EventLoop } from '../protocol/seams.ts';

/**
 * What listening costs where threads wait awake, and where they wait asleep.
 *
 * - `patienceMs`  how long a thread listens on: enough for the other one to work and answer. Asleep it costs no core, and
 *                 a timer that is shorter than the kernel's tick costs more than all the rest.
 * - `firstPause`  after waiting in vain, at least so many messages go by before the next try: about as many as had to
 *                 come sooner to make up for it.
 */
const MANNERS = {
  awake: { patienceMs: 0.1, firstPause: 1 },
  asleep: { patienceMs: 2, firstPause: 128 },
} as const;

/** Other ports, timers and the user's own events have their turn after this long. */
const TURN_MS = 5;
/** After waiting in vain again and again, so many messages go by before the next try. */
const LONGEST_PAUSE = 1_024;

/**
 * One end of a link, which reads the next post and says whether there was one.
 *
 * - `take`   if it is here.
 * - `await`  when it is here; blocks the thread until then, at most so long.
 */
export interface Listened {
  take(): boolean;
  await(ms: number): boolean;
}

export interface ListeningDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly loop: Pick<EventLoop, 'soon' | 'listens'>;
  /** Posts what is due. */
  readonly flush: () => void;
}

/**
 * Listens on for a moment after a message came, before the thread goes back to its event loop: where two threads ask and
 * answer in turn, the next message is on its way, and to be woken by the event loop takes longer than to wait.
 *
 * Whether it pays is learnt: each time that nothing came, twice as many messages go by before the next try, as on a
 * machine whose cores are all taken; each time that something came, half as many.
 */
export class Listening {
  readonly #deps: ListeningDeps;
  readonly #manner: (typeof MANNERS)['awake' | 'asleep'];
  #to: Listened | undefined;
  #untilMs = 0;
  #turnEndsMs = 0;
  /** Messages that go by after one try, and how many of them still do. */
  #pause = 0;
  #left = 0;

  constructor(deps: ListeningDeps) {
    this.#deps = deps;
    this.#manner = MANNERS[deps.loop.listens === 'asleep' ? 'asleep' : 'awake'];
  }

  /** A message came from there, as an event of its own, and more may follow. */
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
