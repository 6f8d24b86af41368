import { deadlineExceeded, systemStopped } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';

/** Whoever waits for room is woken when there is; this is for a thread that died meanwhile. */
const POLL_MS = 20;

export interface WaitLimits {
  readonly signal: AbortSignal | undefined;
  /** Unix milliseconds; 0 for none. */
  readonly deadlineAtMs: number;
}

/** Senders of one thread that wait for room in a full mailbox. */
export class RoomWaiters {
  readonly #clock: Clock;
  #waiters: (() => void)[] = [];
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when there may be room. Rejects with the signal's reason, DEADLINE_EXCEEDED or SYSTEM_STOPPED. */
  wait({ signal, deadlineAtMs }: WaitLimits): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.setTimer(POLL_MS, () => this.wake());
      this.#waiters.push(() => {
        cancel();
        if (this.#isClosed) reject(systemStopped('it waited for room in a mailbox'));
        else if (signal?.aborted === true) reject(signal.reason as Error);
        else if (deadlineAtMs > 0 && deadlineAtMs <= this.#clock.now()) {
          reject(deadlineExceeded('Room in the mailbox', 0));
        } else resolve();
      });
    });
  }

  wake(): void {
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  close(): void {
    this.#isClosed = true;
    this.wake();
  }
}
