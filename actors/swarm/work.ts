import type { ErrorData } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import { decideLease, decideRest } from './decide/lease.ts';
import type { HandedWork, SwarmReach, WorkOrder, WorkReports } from './swarm-reach.ts';

/** What becomes of an assignment, for the swarm. */
export interface WorkEvents {
  sent(work: Work, envelopeId: string): void;
  tainted(work: Work, taint: Taint): void;
  checkpointed(work: Work, partial: unknown): void;
  completed(work: Work, result: unknown): void;
  failed(work: Work, error: ErrorData): void;
  orphaned(work: Work): void;
  suspended(work: Work): void;
  /** Its agent has given a sign of life. */
  heard(work: Work): void;
  /** Its lease is over. */
  stalled(work: Work): void;
  /** It had been taken away, and now its agent has answered or was made to stop. */
  freed(work: Work): void;
}

export interface WorkDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly reach: SwarmReach;
  readonly events: WorkEvents;
  readonly graceMs: number;
  /** It does not count as the agent's load any more. */
  readonly onOver: (work: Work) => void;
}

/** What a coordinator before this one has handed over: in which envelope, and until when its lease holds, Unix milliseconds. */
export interface FormerWork {
  readonly envelopeId: string | undefined;
  readonly untilMs: number;
}

/**
 * One assignment in an agent's hands, with its lease.
 *
 * Every sign of life renews the lease. When it has been taken away the agent is listened to for a while still, so that a
 * late result is known, and then the work is cancelled.
 */
export class Work {
  readonly order: WorkOrder;
  readonly #deps: WorkDeps;
  #handed: HandedWork | undefined;
  #untilMs = 0;
  #wasUnheard = false;
  #cancelTimer: () => void = () => undefined;
  #isTaken = false;
  #isOver = false;
  #wasHandedAgain = false;

  constructor(order: WorkOrder, deps: WorkDeps) {
    this.order = order;
    this.#deps = deps;
  }

  /** It is not the agent's any more. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It was handed over by a coordinator before this one. */
  get wasHandedAgain(): boolean {
    return this.#wasHandedAgain;
  }

  /** Hands it over. */
  begin(): void {
    this.#renew();
    this.#watch(this.order.leaseMs);
    this.#handed = this.#deps.reach.hand(this.order, this.#reports());
  }

  /** Goes on listening to what was handed over before; false when that is not possible. */
  goOn({ envelopeId, untilMs }: FormerWork): boolean {
    const { clock, reach } = this.#deps;
    const nowMs = clock.now();
    const { forMs, isUnheard } = decideRest({ nowMs, untilMs, leaseMs: this.order.leaseMs });
    this.#wasHandedAgain = true;
    this.#untilMs = nowMs + forMs;
    this.#wasUnheard = isUnheard;
    this.#watch(forMs);
    this.#handed = reach.handAgain(this.order, envelopeId, this.#reports());
    if (this.#handed === undefined) this.#end();
    return this.#handed !== undefined;
  }

  #reports(): WorkReports {
    return {
      sent: (envelopeId: string) => this.#heard(() => this.#deps.events.sent(this, envelopeId)),
      progressed: ({ partial }: { readonly partial?: unknown }) =>
        this.#heard(() => {
          if (partial === undefined) this.#deps.events.heard(this);
          else this.#deps.events.checkpointed(this, partial);
        }),
      tainted: (taint: Taint) => {
        if (!this.#isOver) this.#deps.events.tainted(this, taint);
      },
      completed: (result: unknown) => this.#ends(() => this.#deps.events.completed(this, result)),
      failed: (error: ErrorData) => this.#ends(() => this.#deps.events.failed(this, error)),
      orphaned: () => this.#ends(() => this.#deps.events.orphaned(this)),
      suspended: () => {
        if (!this.#isOver) this.#deps.events.suspended(this);
      },
    };
  }

  /** It is not the agent's any more; what the agent still says is late. */
  takeAway(): void {
    if (this.#isOver || this.#isTaken) return;
    this.#isTaken = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#deps.clock.setTimer(this.#deps.graceMs, () => {
      this.cancel('it was taken away');
      this.#deps.events.freed(this);
    });
  }

  /** Cancels the work. */
  cancel(reason: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#handed?.cancel(reason);
  }

  /** It has been reported on in another way: what the agent's handler returns is of no interest. */
  release(): void {
    if (this.#isOver) return;
    this.#end();
    this.#handed?.release();
  }

  #heard(then: () => void): void {
    if (this.#isOver) return;
    this.#renew();
    then();
  }

  #ends(then: () => void): void {
    if (this.#isOver) return;
    this.#end();
    then();
    if (this.#isTaken) this.#deps.events.freed(this);
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelTimer();
    this.#deps.onOver(this);
  }

  #renew(): void {
    this.#untilMs = this.#deps.clock.now() + this.order.leaseMs;
    this.#wasUnheard = false;
  }

  /** One timer a lease: renewing it is only a number. */
  #watch(forMs: number): void {
    this.#cancelTimer = this.#deps.clock.setTimer(forMs, () => this.#judge());
  }

  #judge(): void {
    const { leaseMs } = this.order;
    const nowMs = this.#deps.clock.now();
    const moment = { nowMs, untilMs: this.#untilMs, leaseMs, wasUnheard: this.#wasUnheard };
    const { verdict, forMs } = decideLease(moment);
    if (verdict === 'over') return this.#deps.events.stalled(this);
    if (verdict === 'unheard') {
      this.#wasUnheard = true;
      this.#untilMs = nowMs + forMs;
    }
    this.#watch(forMs);
  }
}
