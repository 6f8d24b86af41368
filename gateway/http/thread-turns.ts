import { systemStopped } from '../../runtime/protocol/errors.ts';

interface Waiting {
  readonly signal: AbortSignal;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** @default when the event loop has had a turn */
type YieldTurn = (run: () => void) => void;

/**
 * Has long pieces of work done one at a time: between two of them the thread does what else there is to do. What has been
 * begun is gone on with before anything else is begun, so that little is half done at once; else who has asked first is first.
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

  /** As `begin`, for what has been begun. */
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

  /** Nobody waits for those whose caller has gone: they take no turn. */
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
