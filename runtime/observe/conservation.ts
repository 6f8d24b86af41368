import type { Conservation } from '../protocol/conservation.ts';
import { COUNT } from './thread-counters.ts';

/**
 * The account of a moment: `before` and `after` are the counters of all threads around it, `inFlight` what was counted
 * in their mailboxes and ledgers within it, and `left` what former processes accepted and nobody has been given yet.
 *
 * `isExact` says that the numbers add up as they stand. Where envelopes move meanwhile they cannot: `holds` says that
 * they add up but for what moved.
 */
export function conservationOf(
  before: Float64Array,
  after: Float64Array,
  { inFlight, left }: { readonly inFlight: number; readonly left: number },
): Conservation & { readonly isExact: boolean } {
  const [accepted, settled] = [at(after, COUNT.accepted), settledOf(after)];
  const least = at(before, COUNT.accepted) - settled;
  const most = accepted - settledOf(before);
  return {
    accepted: accepted + left,
    handled: at(after, COUNT.handled),
    rejected: at(after, COUNT.rejected),
    expired: at(after, COUNT.expired),
    deadLettered: at(after, COUNT.deadLettered),
    inFlight: inFlight + left,
    holds: least <= inFlight && inFlight <= most,
    isExact: accepted === settled + inFlight,
  };
}

/**
 * Says whether nothing was in flight at a moment between `before` and `after`: threads that were each found idle may all
 * the same have sent each other something behind the asker's back.
 */
export const isAllSettled = (before: Float64Array, after: Float64Array): boolean =>
  at(before, COUNT.accepted) === settledOf(before) &&
  at(before, COUNT.accepted) === at(after, COUNT.accepted);

const at = (counts: Float64Array, index: number): number => counts[index] as number;

const settledOf = (counts: Float64Array): number =>
  at(counts, COUNT.handled) +
  at(counts, COUNT.rejected) +
  at(counts, COUNT.expired) +
  at(counts, COUNT.deadLettered);
