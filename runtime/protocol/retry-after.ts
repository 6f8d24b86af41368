const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/**
 * How long to wait by the header `Retry-After` (RFC 9110, 10.2.3), in milliseconds, a day at most. The header holds seconds or a
 * date; some servers send fractions of a second.
 */
export function retryAfterMsOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) * SECOND_MS : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), DAY_MS);
}
