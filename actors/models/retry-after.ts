import type { BackOff } from '../../runtime/protocol/back-off.ts';
import { backOffMs } from '../../runtime/protocol/back-off-ms.ts';
import { retryAfterMsOf } from '../../runtime/protocol/retry-after.ts';
import type { Random } from '../../runtime/protocol/seams.ts';

/** How long a provider wants to be left alone, in milliseconds; undefined when it does not say. */
export function retryAfterIn(
  headers: Readonly<Record<string, string>> | undefined,
  nowMs: number,
): number | undefined {
  const exact = Number.parseFloat(headers?.['retry-after-ms'] ?? '');
  return Number.isFinite(exact) ? Math.max(0, exact) : retryAfterMsOf(headers?.['retry-after'], nowMs);
}

const BACK_OFF: BackOff = { firstMs: 500, maxMs: 30_000, factor: 2, jitter: 0.5 };
/** The share that is waited longer than the provider asks for, and at least so long, at most. */
const SPREAD = 0.1;
const SPREAD_MS = 100;

/** Milliseconds until the next attempt after `failures`: as long as the provider has asked for, and a little more by chance. */
export function waitMsAfter(failures: number, askedMs: number | undefined, random: Random): number {
  if (askedMs === undefined) return backOffMs(BACK_OFF, failures, random);
  return askedMs + random() * Math.max(SPREAD_MS, askedMs * SPREAD);
}
