import { systemStopped } from '../../runtime/protocol/errors.ts';

interface Waiting {
  readonly signal: AbortSignal;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** @default when the event loop has had a turn */
type YieldTurn = (run: () => void) => void;

/**
 * Runs long pieces of work one at a time, and lets the event loop turn in between. Work that has begun goes on before other
 * work begins; else the order is that of asking.
 */
export class ThreadTurns {
  readonly #yieldTurn: YieldTurn;
  readonly #begun: Waiting[] = [];
  readonly #new: Waiting[] = [];
  #isUnderWay = false;

  constructor(yieldTurn: YieldTurn = setImmediate) {
    this.#yieldTurn = yieldTurn;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#begun.length + this.#new.length;
  }

  /** Resolves when something new can be begun. Rejects with SYSTEM_STOPPED then, where `signal` has aborted meanwhile. */
  begin(signal: AbortSignal): Promise<void> {
    return this.#wait(this.#new, signal);
  }

  /** As `begin`, for work that has begun. */
  goOn(signal: AbortSignal): Promise<void> {
    return this.#wait(this.#begun, signal);
  }

  #wait(waiting: Waiting[], signal: AbortSignal): Promise<void> {
    return new Promise((begin, refuse) => {
      waiting.push({ signal, begin, refuse });
      this.#proceed();
    });
  }

  #proceed(): void {
    if (this.#isUnderWay || this.waiting === 0) return;
    this.#isUnderWay = true;
    this.#yieldTurn(() => {
      this.#isUnderWay = false;
      this.#beginNext();
      this.#proceed();
    });
  }

  /** Starts the next piece of work. One whose caller has gone is skipped. */
  #beginNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!next.signal.aborted) return next.begin();
      next.refuse(systemStopped('nobody waits for the request'));
    }
  }

  #next(): Waiting | undefined {
    return this.#begun.shift() ?? this.#new.shift();
  }
}
