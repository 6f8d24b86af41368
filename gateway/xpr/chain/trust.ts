import type { XprAgent } from './xpr-accounts.ts';

const MONTH_MS = 30 * 24 * 60 * 60 * 1_000;
const STAKE_A_POINT = 500;
const BEST_RATING = 10_000;

/**
 * The trust score of an agent, 0 to 100: up to 30 for its owner's KYC level, 20 for its stake, 40 for its rating, and
 * 10 for the months since its registration.
 */
export function trustScore({ kycLevel, stake, rating, registeredAtMs }: XprAgent, nowMs: number): number {
  const months = Math.floor((nowMs - registeredAtMs) / MONTH_MS);
  return (
    within(10 * kycLevel, 30) +
    within(Math.floor(stake / STAKE_A_POINT), 20) +
    within(Math.floor((rating / BEST_RATING) * 40), 40) +
    within(months, 10)
  );
}

const within = (points: number, most: number): number => Math.min(Math.max(points, 0), most);

const RATINGS = [
  [80, 'verified'],
  [60, 'high'],
  [40, 'medium'],
  [20, 'low'],
] as const;

/** The name of the range that a score is in: from 80 `verified`, 60 `high`, 40 `medium`, 20 `low`. */
export const trustRating = (score: number): 'verified' | 'high' | 'medium' | 'low' | 'untrusted' =>
  RATINGS.find(([from]) => score >= from)?.[1] ?? 'untrusted';
