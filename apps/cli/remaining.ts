import { isOver } from '@orrery/ralph-loop';
import type { Progress, Way } from './progress.ts';

/** So much of what was expected has to be over before anything is reckoned from it. */
const LEAST_SHARE = 1 / 6;

/**
 * How long it will take, reckoned from the tasks that are over: the longest task that is left, or all that is left shared
 * out, if that is more. What an agent says of itself does not count: halfway through its files is seldom halfway in time.
 * Undefined while too little is over.
 */
export function remainingMs({ tasks, maxParallel }: Progress, nowMs: number): number | undefined {
  const ways = [...tasks.values()];
  const over = ways.filter(({ status }) => isOver(status));
  const expectedMs = expectation(ways);
  if (sumOf(over.map(expectedMs)) < LEAST_SHARE * sumOf(ways.map(expectedMs))) return undefined;
  const pace = paceOf(over, expectedMs);
  if (pace === undefined) return undefined;
  const left = ways
    .filter(({ status }) => !isOver(status) && status !== 'judging')
    .map((way) => Math.max(0, expectedMs(way) * pace - (spentMs(way, nowMs) ?? 0)));
  return Math.max(0, ...left, sumOf(left) / Math.max(1, maxParallel));
}

/** How long a task is expected to take, beside others. Those without an estimate are short where others have one. */
function expectation(ways: readonly Way[]): (way: Way) => number {
  const unknown = ways.some(({ estimateMs }) => estimateMs !== undefined) ? 0 : 1;
  return ({ estimateMs = unknown }) => estimateMs;
}

/** How much longer tasks take here than they were expected to, by those that are over; some had nothing to do. */
function paceOf(over: readonly Way[], expectedMs: (way: Way) => number): number | undefined {
  const worked = over.filter(({ status, beganAtMs }) => status !== 'nothing' && beganAtMs !== undefined);
  const expected = sumOf(worked.map(expectedMs));
  if (expected === 0) return undefined;
  return sumOf(worked.map((way) => spentMs(way, way.endedAtMs ?? 0) ?? 0)) / expected;
}

const spentMs = ({ beganAtMs }: Way, untilMs: number): number | undefined =>
  beganAtMs === undefined ? undefined : Math.max(0, untilMs - beganAtMs);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** When it will be over, and since when that is what is reckoned. */
export interface Estimate {
  readonly endsAtMs: number;
  readonly sinceMs: number;
}

/** An estimate that is off by a larger part of what is left begins anew. */
const MOST_CHANGE = 1 / 3;

/** The estimate after it was reckoned again. While it stands it comes nearer, and goes no further away. */
export function settled(
  before: Estimate | undefined,
  leftMs: number | undefined,
  nowMs: number,
): Estimate | undefined {
  if (leftMs === undefined) return undefined;
  const endsAtMs = nowMs + leftMs;
  const anew = { endsAtMs, sinceMs: nowMs };
  if (before === undefined) return anew;
  const change = Math.abs(endsAtMs - before.endsAtMs);
  return change > MOST_CHANGE * Math.max(leftMs, before.endsAtMs - nowMs)
    ? anew
    : { ...before, endsAtMs: Math.min(endsAtMs, before.endsAtMs) };
}

/** So long an estimate has to stand before it is told. */
const STANDS_MS = 5_000;
/** What is nearer than that is over before it is read. */
const LEAST_TOLD_MS = 5_000;

/** What is told of how long it will take, if anything is. */
export function toldMs(estimate: Estimate | undefined, nowMs: number): number | undefined {
  if (estimate === undefined || nowMs - estimate.sinceMs < STANDS_MS) return undefined;
  const leftMs = estimate.endsAtMs - nowMs;
  return leftMs < LEAST_TOLD_MS ? undefined : leftMs;
}
