import { type ErrorCode, isOrreryError } from 'orrery';

/** A failed ask. `isLasting`: another attempt would fail too. `retryAfterMs`: when it may be asked again, if that is known. */
export interface LostAnswer {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly isLasting: boolean;
  readonly retryAfterMs?: number;
}

/** Codes about the task or its input, so that another attempt would fail too. */
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
  'TAINTED',
  'SYSTEM_STOPPED',
  'CONTROL_LOST',
]);

/** Describes the error of an ask. */
export function lostAnswer(error: unknown): LostAnswer {
  const code = isOrreryError(error) ? error.code : 'DELIVERY_FAILED';
  const message = error instanceof Error ? error.message : String(error);
  const retryAfterMs = isOrreryError(error) ? error.details['retryAfterMs'] : undefined;
  return {
    ...lostFault({ code, message }),
    ...(typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { retryAfterMs } : {}),
  };
}

/** Describes an error that came as data. */
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
