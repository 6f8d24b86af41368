import type { Clock } from 'orrery';

/** A process that a signal ended exits with this and the number of the signal, by custom of shells. */
const SIGNAL_EXIT = 128;
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof SIGNALS;

/** What is not done by then after a signal is left undone. */
const HARD_LIMIT_MS = 900;

/**
 * npm passes on a Ctrl-C that the terminal has sent to us as well: two signals this near are one keystroke.
 */
const SAME_KEYSTROKE_MS = 250;

export interface InterruptionDeps {
  readonly clock: Clock;
  /** `process`, outside of tests. */
  readonly process: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>;
}

/**
 * Turns the first SIGINT or SIGTERM into an abort, and makes sure that the process ends soon; the second ends
 * it at once.
 */
export class Interruption implements Disposable {
  readonly #deps: InterruptionDeps;
  readonly #stop = new AbortController();
  #first: { signalNumber: number; atMs: number } | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(deps: InterruptionDeps) {
    this.#deps = deps;
    for (const name of Object.keys(SIGNALS)) deps.process.on(name, this.#onSignal);
  }

  /** Aborts at the first signal. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Of the first signal, if there was one. */
  get signalNumber(): number | undefined {
    return this.#first?.signalNumber;
  }

  /** What the process exits with after the first signal. */
  get exitCode(): number {
    return SIGNAL_EXIT + (this.#first?.signalNumber ?? SIGNALS.SIGINT);
  }

  [Symbol.dispose](): void {
    this.#cancelTimer?.();
    for (const name of Object.keys(SIGNALS)) this.#deps.process.off(name, this.#onSignal);
  }

  readonly #onSignal = (name: StopSignal): void => {
    const { clock, process } = this.#deps;
    const exitCode = SIGNAL_EXIT + SIGNALS[name];
    if (this.#first !== undefined) {
      if (clock.monotonicMs() - this.#first.atMs >= SAME_KEYSTROKE_MS) process.exit(exitCode);
      return;
    }
    this.#first = { signalNumber: SIGNALS[name], atMs: clock.monotonicMs() };
    this.#cancelTimer = clock.setTimer(HARD_LIMIT_MS, () => process.exit(exitCode));
    this.#stop.abort();
  };
}
