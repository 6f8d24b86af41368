import type { Clock } from 'orrery';

/** Added to the number of the signal that ended a process, for its exit code, by custom of shells. */
const SIGNAL_EXIT = 128;
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof SIGNALS;

/** The time until the process exits after a signal, milliseconds. */
const HARD_LIMIT_MS = 900;

/** Two signals within this time are one keystroke, milliseconds: npm forwards a Ctrl-C that the terminal also sends. */
const SAME_KEYSTROKE_MS = 250;

export interface InterruptionDeps {
  readonly clock: Clock;
  /** `process`, except in tests. */
  readonly process: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>;
}

/**
 * Aborts at the first SIGINT, SIGTERM or SIGHUP, and ends the process soon after. A second signal ends it at once, but for SIGHUP:
 * of a terminal that is closed several may come, and nobody is there to be impatient.
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

  /** The number of the first signal, if there was one. */
  get signalNumber(): number | undefined {
    return this.#first?.signalNumber;
  }

  /** The exit code after the first signal. */
  get exitCode(): number {
    return SIGNAL_EXIT + (this.#first?.signalNumber ?? SIGNALS.SIGINT);
  }

  /** Stops the run as the first Ctrl-C does; does nothing if it is being stopped already. */
  interrupt(): void {
    if (this.#first === undefined) this.#onSignal('SIGINT');
  }

  [Symbol.dispose](): void {
    this.#cancelTimer?.();
    for (const name of Object.keys(SIGNALS)) this.#deps.process.off(name, this.#onSignal);
  }

  readonly #onSignal = (name: StopSignal): void => {
    const { clock, process } = this.#deps;
    const exitCode = SIGNAL_EXIT + SIGNALS[name];
    if (this.#first !== undefined) {
      const isAgain = clock.monotonicMs() - this.#first.atMs >= SAME_KEYSTROKE_MS;
      if (isAgain && name !== 'SIGHUP') process.exit(exitCode);
      return;
    }
    this.#first = { signalNumber: SIGNALS[name], atMs: clock.monotonicMs() };
    this.#cancelTimer = clock.setTimer(HARD_LIMIT_MS, () => process.exit(exitCode));
    this.#stop.abort();
  };
}
