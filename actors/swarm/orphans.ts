import type { Clock } from '../../runtime/protocol/seams.ts';
import type { SwarmRecord } from './swarm-record.ts';

/** How long the next attempt of the work is waited for in which a swarm was made, if that has no deadline. */
const MAX_WAIT_MS = 600_000;

/**
 * Swarms whose owner was cut off, by the death of its thread or process, in the work in which it had made them, and which
 * wait for the next attempt of that.
 */
export class Orphans {
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly #cancelTimers = new Map<string, () => void>();

  constructor(clock: Pick<Clock, 'now' | 'setTimer'>) {
    this.#clock = clock;
  }

  /** Calls `onUnclaimed` when nobody has claimed it in time. */
  add({ session, work }: SwarmRecord, onUnclaimed: () => void): void {
    const leftMs = (work?.deadlineAtMs ?? Number.POSITIVE_INFINITY) - this.#clock.now();
    const cancelTimer = this.#clock.setTimer(Math.max(0, Math.min(leftMs, MAX_WAIT_MS)), () => {
      this.#cancelTimers.delete(session.id);
      onUnclaimed();
    });
    this.#cancelTimers.set(session.id, cancelTimer);
  }

  /** True when it waits; then it does not any more. */
  claim(swarmId: string): boolean {
    this.#cancelTimers.get(swarmId)?.();
    return this.#cancelTimers.delete(swarmId);
  }

  close(): void {
    for (const swarmId of [...this.#cancelTimers.keys()]) this.claim(swarmId);
  }
}
