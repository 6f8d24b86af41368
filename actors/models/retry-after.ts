/** How long a provider wants to be left alone, in milliseconds; undefined when it does not say. */
export function retryAfterMs(
  headers: Readonly<Record<string, string>> | undefined,
  nowMs: number,
): number | undefined {
  const exact = Number.parseFloat(headers?.['retry-after-ms'] ?? '');
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const said = headers?.['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(said)) return Number(said) * 1_000;
  const atMs = said === '' ? Number.NaN : Date.parse(said);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/**
 * How the next attempt is waited for.
 *
 * - `attempt`      the one that failed, from 1.
 * - `retryAfterMs` what the provider has asked for: never less is waited.
 * - `chance`       in [0, 1): spreads those that failed together.
 */
export interface Waiting {
  readonly attempt: number;
  readonly retryAfterMs: number | undefined;
  readonly chance: number;
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** The share that is waited longer than the provider asks for, at most. */
const SPREAD = 0.1;

/** Milliseconds until the next attempt: as long as the provider says, else twice as long each time, the half of it by chance. */
export function backOffMs({ attempt, retryAfterMs: asked, chance }: Waiting): number {
  if (asked !== undefined) return asked + chance * Math.max(FIRST_MS / 5, asked * SPREAD);
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return whole / 2 + (chance * whole) / 2;
}
