import type { Clock } from '../../runtime/protocol/seams.ts';

/** Acceptances whose time is remembered. */
const ROUNDS_KEPT = 16;

/**
 * How long an agent has what was assigned to it.
 *
 * A lease counts from when the agent sent the acceptance that it answers. The proposer counts from when it answered, which
 * is later, whatever the messages took; so the agent's lease ends first (Gray and Cheriton, Leases, 1989). All that is
 * asked of the clocks is that they run at the same rate.
 */
export class LeaseClock {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #sentAtMs = new Map<number, number>();
  #round: number;
  #untilMs = Number.NEGATIVE_INFINITY;

  /**
   * `firstRound`: one that no former life of the agent has used, because an answer to that must not count as one to this.
   * @default 0
   */
  constructor(clock: Pick<Clock, 'monotonicMs'>, firstRound = 0) {
    this.#clock = clock;
    this.#round = firstRound - 1;
  }

  /** The last round that was sent. */
  get round(): number {
    return this.#round;
  }

  /** The agent has had the task already, and has it for so long still. */
  goOn(leaseLeftMs: number): void {
    this.#untilMs = this.#clock.monotonicMs() + leaseLeftMs;
  }

  /** An acceptance is sent now; returns its round. */
  sending(): number {
    this.#round += 1;
    this.#sentAtMs.set(this.#round, this.#clock.monotonicMs());
    this.#sentAtMs.delete(this.#round - ROUNDS_KEPT);
    return this.#round;
  }

  /**
   * An assignment that answers `round` has come. Returns how long it still lasts, an earlier one included; undefined when
   * it came too late, or answers nothing that was sent.
   */
  leaseLeftMs(round: number, leaseMs: number): number | undefined {
    const sentAtMs = this.#sentAtMs.get(round);
    if (sentAtMs === undefined) return undefined;
    this.#untilMs = Math.max(this.#untilMs, sentAtMs + leaseMs);
    const leftMs = this.#untilMs - this.#clock.monotonicMs();
    return leftMs > 0 ? leftMs : undefined;
  }
}
