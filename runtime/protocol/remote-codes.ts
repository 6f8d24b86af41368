import type { ErrorCode } from './errors.ts';

/** By which a system elsewhere refuses a request before anything is done. */
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

/** What work elsewhere may also come to. */
const OUTCOMES: ReadonlySet<string> = new Set<ErrorCode>(['DEADLINE_EXCEEDED', 'REFUSED', 'TAKEN']);

/** The request was refused: nothing has been done for it. */
export const isRefusal = (code: string): boolean => REFUSALS.has(code);

/**
 * The code that another system says, where it means the same here, whoever says it: it promises nothing. Of the others, such
 * as deaths, this system knows only that the other one failed; and who is authenticated there is told by its protocol.
 */
export function sharedCodeOf(said: string | undefined): ErrorCode | undefined {
  if (said === undefined || said === 'UNAUTHENTICATED') return undefined;
  return REFUSALS.has(said) || OUTCOMES.has(said) ? (said as ErrorCode) : undefined;
}
