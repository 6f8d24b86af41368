import type { Cell } from './cell.ts';
import { Fifo } from '../mailbox/fifo.ts';
import type { Clock, EventLoop } from '../protocol/seams.ts';

/** Handling goes on this long before other things in the thread get a turn. */
const TURN_MS = 5;
/** What handlers sent waits at most this long while handling goes on. */
const FLUSH_AFTER_MS = 0.2;
/** Deferred work that comes so soon after a turn was over may be part of a chain that began in it. */
const CHAIN_MS = 50;

export interface TurnLoopDeps {
  readonly clock: Clock;
  readonly loop: EventLoop;
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
  /** Cells whose handler goes on while the event loop has not turned since. */
  #young: Cell[] = [];
  #isRunning = false;
  #isDeferred = false;
  #lastFlushMs = 0;
  #endsMs = 0;
  /**
   * Unix milliseconds, as last read: when something arrived, and after handlings, once a millisecond. Reading it costs.
   * Never before what this thread has stamped on an envelope.
   */
  nowMs = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** The event loop has not turned since the last turn here was over. */
  #isYielding = false;

  constructor(deps: TurnLoopDeps) {
    this.#deps = deps;
  }

  get isIdle(): boolean {
    return this.busy.size === 0 && this.#young.length === 0 && this.#ready.length === 0;
  }

  /** Reads the time: something came from outside, or outlasted a turn of the event loop. */
  begin(): void {
    this.nowMs = this.#deps.clock.now();
  }

  /** The time for an envelope that is made now. */
  stamp(): number {
    this.begin();
    return this.nowMs;
  }

  /** The same as `begin`, unless a turn is going on. */
  beginUnlessRunning(): void {
    if (!this.#isRunning) this.begin();
  }

  /** The cell has something to do. */
  wake(cell: Cell): void {
    if (cell.isQueued) return;
    cell.isQueued = true;
    this.#ready.push(cell);
    if (this.#isRunning || this.#isDeferred || this.#isYielding) return;
    this.#isDeferred = true;
    this.#deps.loop.defer(this.#runDeferred);
  }

  /** A cell can take its next envelope: at once, if the turn is not over. */
  resume(cell: Cell): void {
    if (this.#isRunning || this.#isYielding || cell.isQueued) {
      this.wake(cell);
      return;
    }
    this.#isRunning = true;
    try {
      cell.run(this.#mayGoOn);
    } finally {
      this.#isRunning = false;
    }
    if (this.#ready.length > 0) this.#yield();
  }

  /**
   * Something arrived. Messages that are queued come without a turn of the event loop between them: each must not get a
   * turn of its own.
   */
  runArrived(): void {
    if (!this.#isYielding) this.run();
  }

  /** Runs the cells that have something to do. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#lastFlushMs = this.#read();
    if (this.#lastFlushMs > this.#endsMs) this.#endsMs = this.#lastFlushMs + TURN_MS;
    try {
      for (let cell = this.#next(); cell !== undefined; cell = this.#next()) {
        cell.isQueued = false;
        cell.run(this.#mayGoOn);
        if (this.#lastFlushMs > this.#endsMs) break;
      }
    } finally {
      this.#isRunning = false;
    }
    if (this.#ready.length > 0) this.#yield();
  }

  /** A handler of the cell answers later. Most do before the event loop turns, and then nobody needs to watch them. */
  goesOn(cell: Cell): void {
    if (cell.isYoung) return;
    cell.isYoung = true;
    if (this.#young.push(cell) === 1) this.#deps.loop.yieldTurn(this.watchYoung);
  }

  /** From here on the deadlines of handlers that are not done are watched. */
  readonly watchYoung = (): void => {
    const young = this.#young;
    this.#young = [];
    for (const cell of young) {
      cell.isYoung = false;
      this.watch(cell);
    }
  };

  /** The deadlines of what the cell has in hand are watched. */
  watch(cell: Cell): void {
    if (cell.inHand === 0) return;
    this.busy.add(cell);
    cell.watch();
  }

  #next(): Cell | undefined {
    if (this.#ready.length === 0 && this.#deps.hasUndelivered()) this.#deps.flush();
    return this.#ready.shift();
  }

  /** Asked after each handling: posts what is due, and ends the turn when others wait long enough. */
  readonly #mayGoOn = (): boolean => {
    const atMs = this.#read();
    if (atMs - this.#lastFlushMs >= FLUSH_AFTER_MS) {
      this.#deps.flush();
      this.#lastFlushMs = atMs;
    }
    return atMs <= this.#endsMs;
  };

  /** The monotonic time; `nowMs` follows. */
  #read(): number {
    const atMs = this.#deps.clock.monotonicMs();
    if (atMs - this.#readAtMs >= 1) {
      this.#readAtMs = atMs;
      this.begin();
    }
    return atMs;
  }

  /** The turn is over: others first. */
  #yield(): void {
    if (this.#isYielding) return;
    this.#isYielding = true;
    this.#deps.loop.yieldTurn(this.#runYielded);
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
