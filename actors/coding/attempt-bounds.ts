import type { GuardedProcess } from '../../runtime/os/guarded-process.ts';
import { deadlineExceeded, OrreryError } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { Inactivity } from './inactivity.ts';

/**
 * - `record`       of the attempt that is bounded.
 * - `timeoutMs`    how long the attempt may take, if that is limited; milliseconds.
 * - `inactivityMs` how long its program may say nothing and use no processor; milliseconds.
 */
export interface AttemptBoundsDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly process: GuardedProcess;
  readonly record: AttemptRecord;
  readonly timeoutMs: number | undefined;
  readonly inactivityMs: number;
}

/** What bounds an attempt in time, until it is released: its signal, its time, and how long its program may be inactive. */
export class AttemptBounds {
  readonly #inactivity: Inactivity;
  readonly #release: () => void;

  constructor({ clock, signal, process, record, timeoutMs, inactivityMs }: AttemptBoundsDeps) {
    const { name } = record;
    const onInactive = (): void =>
      record.stop(
        new OrreryError(
          'DEADLINE_EXCEEDED',
          `${name} has printed nothing and used no processor for ${inactivityMs} ms`,
          { details: { what: name, inactivityMs, ...record.tally.result() } },
        ),
      );
    this.#inactivity = new Inactivity({ clock, inactivityMs, process, onInactive });
    const cancelTimeout =
      timeoutMs === undefined
        ? () => undefined
        : clock.setTimer(timeoutMs, () => record.stop(deadlineExceeded(`The attempt of ${name}`, timeoutMs)));
    const abort = (): void => record.stop(signal.reason);
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
