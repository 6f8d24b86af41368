import type { GuardedProcess } from '../../runtime/os/guarded-process.ts';
import { deadlineExceeded, OrreryError } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { Inactivity } from './inactivity.ts';

/**
 * - `timeoutMs`    how long the attempt may take, if that is limited; milliseconds.
 * - `inactivityMs` how long its program may say nothing and use no processor; milliseconds.
 * - `details`      what is known of the attempt when it ends so.
 * - `stop`         ends the attempt, with the reason.
 */
export interface AttemptBoundsDeps {
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly process: GuardedProcess;
  readonly mark: string;
  readonly timeoutMs: number | undefined;
  readonly inactivityMs: number;
  readonly details: () => Readonly<Record<string, unknown>>;
  readonly stop: (error: unknown) => void;
}

/** What bounds an attempt in time, until it is released: its signal, its time, and how long its program may be inactive. */
export class AttemptBounds {
  readonly #inactivity: Inactivity;
  readonly #release: () => void;

  constructor(deps: AttemptBoundsDeps) {
    const { name, clock, signal, process, mark, timeoutMs, inactivityMs, details, stop } = deps;
    const onInactive = (): void =>
      stop(
        new OrreryError(
          'DEADLINE_EXCEEDED',
          `${name} has printed nothing and used no processor for ${inactivityMs} ms`,
          { details: { what: name, inactivityMs, ...details() } },
        ),
      );
    this.#inactivity = new Inactivity({ clock, inactivityMs, pid: process.pid, mark, onInactive });
    const cancelTimeout =
      timeoutMs === undefined
        ? () => undefined
        : clock.setTimer(timeoutMs, () => stop(deadlineExceeded(`The attempt of ${name}`, timeoutMs)));
    const abort = (): void => stop(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#release = () => {
      cancelTimeout();
      signal.removeEventListener('abort', abort);
    };
  }

  /** Says that its program has printed something. */
  heard(): void {
    this.#inactivity.heard();
  }

  release(): void {
    this.#inactivity.stop();
    this.#release();
  }
}
