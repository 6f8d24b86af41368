import type { Cell } from '../actor/cell.ts';
import type { Handling } from '../actor/handling.ts';
import { Fifo } from '../mailbox/fifo.ts';
import type { Clock } from '../protocol/seams.ts';

/** Handling goes on this long before other things in the thread get a turn. */
const TURN_MS = 5;
/** What handlers sent waits at most this long while handling goes on. */
const FLUSH_AFTER_MS = 0.2;
/** Deferred work that comes so soon after a turn was over may be part of a chain that began in it. */
const CHAIN_MS = 50;

export interface TurnLoopDeps {
  readonly clock: Clock;
  /** Runs after the code that runs now, before anything else. */
  readonly defer: (run: () => void) => void;
  /** Runs when the event loop has had a turn. */
  readonly yieldTurn: (run: () => void) => void;
  /** Posts and commits what handlers did, and delivers mail within the thread. */
  readonly flush: () => void;
  readonly hasUndelivered: () => boolean;
}

/** Gives the cells of one thread their turns: whoever has mail, one after the other, for a few milliseconds at a time. */
export class TurnLoop {
  /** Cells whose handler outlasted the turn in which it began. */
  readonly busy = new Set<Cell>();
  readonly #deps: TurnLoopDeps;
  readonly #ready = new Fifo<Cell>();
  #young: Handling[] = [];
  #isRunning = false;
  #isDeferred = false;
  #lastFlushMs = 0;
  #endsMs = 0;
  /** `#turnAtMs` is the time: set as a turn begins. */
  #isTimed = false;
  #turnAtMs = 0;
  /** The event loop has not turned since the last turn here was over. */
  #isYielding = false;

  constructor(deps: TurnLoopDeps) {
    this.#deps = deps;
  }

  /** Unix milliseconds; while handling goes on, those of the turn: asking the time costs as much as noting an event. */
  get nowMs(): number {
    return this.#isTimed ? this.#turnAtMs : this.#deps.clock.now();
  }

  get isIdle(): boolean {
    return this.busy.size === 0 && this.#young.length === 0 && this.#ready.length === 0;
  }

  /** A turn begins with something from outside. */
  begin(): void {
    this.#turnAtMs = this.#deps.clock.now();
    this.#isTimed = true;
  }

  end(): void {
    this.#isTimed = false;
  }

  /** The cell has something to do. */
  wake(cell: Cell): void {
    if (cell.isQueued) return;
    cell.isQueued = true;
    this.#ready.push(cell);
    if (this.#isRunning || this.#isDeferred || this.#isYielding) return;
    this.#isDeferred = true;
    this.#deps.defer(this.#runDeferred);
  }

  /** A cell can take its next envelope: at once, if the turn is not over. */
  resume(cell: Cell): void {
    if (this.#isRunning || this.#isYielding || cell.isQueued) {
      this.wake(cell);
      return;
    }
    this.#isRunning = true;
    cell.run(this.#mayGoOn);
    this.#isRunning = false;
    if (this.#ready.length > 0) this.#yield();
  }

  /**
   * Something arrived. Messages that are queued come without a turn of the event loop between them: each must not get a
   * turn of its own.
   */
  runArrived(): void {
    if (this.#isYielding) this.end();
    else this.run();
  }

  /** Runs the cells that have something to do. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#lastFlushMs = this.#deps.clock.monotonicMs();
    if (this.#lastFlushMs > this.#endsMs) this.#endsMs = this.#lastFlushMs + TURN_MS;
    this.begin();
    for (let cell = this.#next(); cell !== undefined; cell = this.#next()) {
      cell.isQueued = false;
      cell.run(this.#mayGoOn);
      if (this.#lastFlushMs > this.#endsMs) break;
    }
    this.#isRunning = false;
    this.end();
    if (this.#ready.length > 0) this.#yield();
  }

  /** A handler answers later. Most do before the event loop turns, and then nobody needs to watch them. */
  goesOn(handling: Handling): void {
    if (this.#young.push(handling) === 1) this.#deps.yieldTurn(this.watchYoung);
  }

  /** From here on the deadlines of handlers that are not done are watched. */
  readonly watchYoung = (): void => {
    const young = this.#young;
    this.#young = [];
    for (const handling of young) {
      if (handling.isOver) continue;
      handling.isWatched = true;
      this.busy.add(handling.cell);
      handling.cell.watch(handling);
    }
  };

  #next(): Cell | undefined {
    if (this.#ready.length === 0 && this.#deps.hasUndelivered()) this.#deps.flush();
    return this.#ready.shift();
  }

  /** Asked after each handling: posts what is due, and ends the turn when others wait long enough. */
  readonly #mayGoOn = (): boolean => {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#lastFlushMs >= FLUSH_AFTER_MS) {
      this.#deps.flush();
      this.#lastFlushMs = nowMs;
    }
    return nowMs <= this.#endsMs;
  };

  /** The turn is over: others first. */
  #yield(): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    this.#deps.yieldTurn(this.#runYielded);
  }

  /**
   * Deferred work comes before the event loop turns, and may defer more: envelopes that go to and fro within the thread
   * would keep it from ever turning, if each link of such a chain began a turn of its own.
   */
  readonly #runDeferred = (): void => {
    this.#isDeferred = false;
    if (this.#isYielding) return;
    const overMs = this.#deps.clock.monotonicMs() - this.#endsMs;
    if (overMs > 0 && overMs < CHAIN_MS) this.#yield();
    else this.run();
  };

  readonly #runYielded = (): void => {
    this.#isYielding = false;
    this.#endsMs = 0;
    this.run();
  };
}
