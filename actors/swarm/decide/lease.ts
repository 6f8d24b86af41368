/** A lease at the moment when its timer fires, in Unix milliseconds; `wasUnheard`: it has been given time before. */
export interface LeaseMoment {
  readonly nowMs: number;
  readonly untilMs: number;
  readonly leaseMs: number;
  readonly wasUnheard: boolean;
}

/** How late a timer may be before it says more about the coordinator's thread than about the agent. */
const MAX_LATENESS = 0.25;

/**
 * What a lease whose timer fired is worth.
 *
 * - `renewed` there was progress meanwhile: it holds on for `forMs`.
 * - `over`    the assignment stalled.
 * - `unheard` the coordinator itself stood still, so that progress may lie unread: it holds for `forMs` more, once.
 */
export function decideLease({ nowMs, untilMs, leaseMs, wasUnheard }: LeaseMoment): {
  readonly verdict: 'renewed' | 'over' | 'unheard';
  readonly forMs: number;
} {
  if (nowMs < untilMs) return { verdict: 'renewed', forMs: untilMs - nowMs };
  const lateMs = nowMs - untilMs;
  if (wasUnheard || lateMs <= leaseMs * MAX_LATENESS) return { verdict: 'over', forMs: 0 };
  return { verdict: 'unheard', forMs: leaseMs * MAX_LATENESS };
}
