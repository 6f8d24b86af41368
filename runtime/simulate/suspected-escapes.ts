import type { Handling } from '../cell/handling.ts';
import { systemClock } from '../protocol/system-seams.ts';
import type { Waits } from './running.ts';

/** How long a handler that waits for nothing in the simulation is waited for, real milliseconds. */
const PATIENCE_MS = 20;
/** After so many that waited in vain, it is enough to let the event loop turn. */
const PATIENT_WITH = 8;

/** A handler that is not done, and how many timers it had had when it was last waited for. */
interface Suspect {
  readonly handling: Handling;
  readonly waits: Waits;
  waitedAt: number | undefined;
}

/**
 * Handlers that are not done and wait neither for an answer nor for time. If code outside is what they wait for, as a
 * thread that was started before, it must be given a chance to wake them: a simulation that went on would let their
 * deadlines pass.
 */
export class SuspectedEscapes {
  #suspects: Suspect[] = [];
  #waited = 0;

  /** Its handler is not done when it returns. */
  add(handling: Handling, waits: Waits): void {
    this.#suspects.push({ handling, waits, waitedAt: undefined });
  }

  /** The process of all of them has ended. */
  clear(): void {
    this.#suspects = [];
  }

  /** The agent in this place whose handler may wait for something outside. */
  at(placeId: string | undefined): string | undefined {
    const here = this.#suspects.filter(({ handling, waits }) => {
      return handling.cell.thread.id === placeId && !handling.isWaiting && waits.timers === 0;
    });
    return here.at(-1)?.handling.self;
  }

  /** Resolves when whoever could wake them has had the time to; undefined when there are none. */
  wait(): Promise<void> | undefined {
    if (this.#suspects.length === 0) return undefined;
    this.#suspects = this.#suspects.filter(({ handling }) => !handling.isOver);
    const suspects = this.#suspects.filter(
      ({ handling, waits, waitedAt }) =>
        !handling.isWaiting && waits.timers === 0 && waits.timersEver !== waitedAt,
    );
    if (suspects.length === 0) return undefined;
    for (const suspect of suspects) suspect.waitedAt = suspect.waits.timersEver;
    this.#waited += 1;
    return turns(this.#waited > PATIENT_WITH ? 0 : PATIENCE_MS);
  }
}

function turns(ms: number): Promise<void> {
  const untilMs = systemClock.monotonicMs() + ms;
  return new Promise((resolve) => {
    const turn = (): void => {
      if (systemClock.monotonicMs() >= untilMs) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
}
