import type { ErrorCode } from './errors.ts';

/** Codes by which another system refuses a request before it does anything. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  'AGENT_NOT_FOUND',
  'BUDGET_EXCEEDED',
  'CAPABILITY_NOT_FOUND',
  'ESCALATION_REQUIRED',
  'HOP_LIMIT',
  'INVALID_PAYLOAD',
  'MAILBOX_FULL',
  'NOT_PERMITTED',
  'PATH_LOOP',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'SANDBOX_VIOLATION',
  'TIER_VIOLATION',
  'UNAUTHENTICATED',
]);

/** Other codes with which work elsewhere may end. */
const OUTCOMES: ReadonlySet<string> = new Set<ErrorCode>(['DEADLINE_EXCEEDED', 'REFUSED', 'TAKEN']);

/** Whether the code is a refusal: then nothing has been done for the request. */
export const isRefusal = (code: string): boolean => REFUSALS.has(code);

/**
 * The code of another system, if it means the same here whoever sends it. Other codes, such as those of deaths, say only that the
 * other system failed. Authentication is reported by the protocol.
 */
export function sharedCodeOf(said: string | undefined): ErrorCode | undefined {
  if (said === undefined || said === 'UNAUTHENTICATED') return undefined;
  return REFUSALS.has(said) || OUTCOMES.has(said) ? (said as ErrorCode) : undefined;
}
