import { systemStopped } from '../../../runtime/protocol/errors.ts';

interface Waiting {
  readonly signal: AbortSignal;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** @default when the event loop has had a turn */
type YieldTurn = (run: () => void) => void;

/**
 * Has long pieces of work done one at a time: between two of them the thread does what else there is to do. Who has asked
 * first is first.
 */
export class ThreadTurns {
  readonly #yieldTurn: YieldTurn;
  readonly #waiting: Waiting[] = [];
  #isUnderWay = false;

  constructor(yieldTurn: YieldTurn = setImmediate) {
    this.#yieldTurn = yieldTurn;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when it is this one's turn. Rejects with SYSTEM_STOPPED then, where `signal` has aborted meanwhile. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((begin, refuse) => {
      this.#waiting.push({ signal, begin, refuse });
      this.#proceed();
    });
  }

  #proceed(): void {
    if (this.#isUnderWay || this.#waiting.length === 0) return;
    this.#isUnderWay = true;
    this.#yieldTurn(() => {
      this.#isUnderWay = false;
      this.#beginNext();
      this.#proceed();
    });
  }

  /** Nobody waits for those whose caller has gone: they take no turn. */
  #beginNext(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!next.signal.aborted) return next.begin();
      next.refuse(systemStopped('nobody waits for the request'));
    }
  }
}
