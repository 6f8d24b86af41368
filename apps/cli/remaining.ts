import { isOver, type TaskStatus } from '@orrery/ralph-loop';
import type { Progress, Way } from './progress.ts';

/** The share of the expected work that must be over before there is an estimate. */
const LEAST_SHARE = 1 / 6;

/**
 * Estimates the time until the end, in milliseconds, by the tasks that are over: the longest task left, or all work left
 * divided by parallel tasks, if that is more. Reported fractions are not used, because half of the files is seldom half of
 * the time. Undefined while too little is over.
 */
export function remainingMs({ tasks, maxParallel }: Progress, nowMs: number): number | undefined {
  const ways = [...tasks.values()];
  const over = ways.filter(({ status }) => isOver(status));
  const expectedMs = expectation(ways);
  if (sumOf(over.map(expectedMs)) < LEAST_SHARE * sumOf(ways.map(expectedMs))) return undefined;
  const pace = paceOf(over, expectedMs);
  if (pace === undefined) return undefined;
  const left = ways
    .filter(({ status }) => !isOver(status) && !IS_DONE_WORK.has(status))
    .map((way) => Math.max(0, expectedMs(way) * pace - (spentMs(way, nowMs) ?? 0)));
  return Math.max(0, ...left, sumOf(left) / Math.max(1, maxParallel));
}

/** Of these the work is done, and they are judged or waited for. */
const IS_DONE_WORK: ReadonlySet<TaskStatus> = new Set([
  'judging',
  'checking',
  'reviewing',
  'held',
  'merging',
]);

/** The expected time of a task. Without an estimate it counts as short if others have one. */
function expectation(ways: readonly Way[]): (way: Way) => number {
  const unknown = ways.some(({ estimateMs }) => estimateMs !== undefined) ? 0 : 1;
  return ({ estimateMs = unknown }) => estimateMs;
}

/** The ratio of real to expected time, by the tasks that are over and had something to do. */
function paceOf(over: readonly Way[], expectedMs: (way: Way) => number): number | undefined {
  const worked = over.filter(({ status, beganAtMs }) => status !== 'nothing' && beganAtMs !== undefined);
  const expected = sumOf(worked.map(expectedMs));
  if (expected === 0) return undefined;
  return sumOf(worked.map((way) => spentMs(way, way.endedAtMs ?? 0) ?? 0)) / expected;
}

const spentMs = ({ beganAtMs }: Way, untilMs: number): number | undefined =>
  beganAtMs === undefined ? undefined : Math.max(0, untilMs - beganAtMs);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** An estimate of the end, and since when it holds, Unix milliseconds. */
export interface Estimate {
  readonly endsAtMs: number;
  readonly sinceMs: number;
}

/** The largest change of an estimate, as a share of the time left. A larger one makes a new estimate. */
const MOST_CHANGE = 1 / 3;

/** Updates an estimate. While it holds, its end only gets earlier. */
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

/** How long an estimate must hold before it is shown, milliseconds. */
const STANDS_MS = 5_000;
/** The shortest time left that is shown, milliseconds. */
const LEAST_TOLD_MS = 5_000;

/** The time left to show, milliseconds; undefined if none is. */
export function toldMs(estimate: Estimate | undefined, nowMs: number): number | undefined {
  if (estimate === undefined || nowMs - estimate.sinceMs < STANDS_MS) return undefined;
  const leftMs = estimate.endsAtMs - nowMs;
  return leftMs < LEAST_TOLD_MS ? undefined : leftMs;
}
