import { type ErrorCode, isOrreryError } from 'orrery';

/** An answer that never came. `isLasting` says that another attempt would end the same way. */
export interface LostAnswer {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly isLasting: boolean;
}

/**
 * What says something about the task or its input, not about the moment: asking again would be refused again.
 */
const LASTING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'REFUSED',
  'INVALID_PAYLOAD',
  'INVALID_OPTIONS',
  'INVALID_ENVELOPE',
  'NOT_SERIALISABLE',
  'SCHEMA_VERSION_MISMATCH',
  'TIER_VIOLATION',
  'SANDBOX_VIOLATION',
  'ESCALATION_REQUIRED',
  'PATH_LOOP',
  'HOP_LIMIT',
  'BUDGET_EXCEEDED',
  'SYSTEM_STOPPED',
  'CONTROL_LOST',
]);

/** What an ask rejected with, as the loop sees it. */
export function lostAnswer(error: unknown): LostAnswer {
  const code = isOrreryError(error) ? error.code : 'DELIVERY_FAILED';
  const message = error instanceof Error ? error.message : String(error);
  return lostFault({ code, message });
}

/** The same of an error that came as data. */
export const lostFault = ({
  code,
  message,
}: {
  readonly code: ErrorCode;
  readonly message: string;
}): LostAnswer => ({
  code,
  reason: `${code}: ${message}`,
  isLasting: LASTING.has(code),
});
