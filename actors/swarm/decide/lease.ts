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
 * For how long a lease holds for a coordinator that comes after another one: as long as it would have held. If that is less
 * than a quarter of it, or over, what has come meanwhile may lie unread: it holds for so long, once.
 */
export function decideRest({ nowMs, untilMs, leaseMs }: Omit<LeaseMoment, 'wasUnheard'>): {
  readonly forMs: number;
  readonly isUnheard: boolean;
} {
  const restMs = Math.min(untilMs - nowMs, leaseMs);
  const leastMs = leaseMs * MAX_LATENESS;
  return restMs < leastMs ? { forMs: leastMs, isUnheard: true } : { forMs: restMs, isUnheard: false };
}

/** Says whether a sign of life is worth keeping: a lease that another coordinator takes over is at most so much shorter. */
export const isWorthKeeping = (heardAtMs: number, nowMs: number, leaseMs: number): boolean =>
  nowMs - heardAtMs >= leaseMs * MAX_LATENESS;

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
