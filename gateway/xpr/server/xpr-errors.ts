import { isOrreryError, type OrreryError } from '../../../runtime/protocol/errors.ts';
import type { WrittenError } from '../../a2a/wire/dialect.ts';
import { type Fault, faultOf, internalFault } from '../../a2a/wire/faults.ts';

/** The errors of the seed's protocol ("Error Codes"): number and message. */
const PARSE = [-32_700, 'Parse error'] as const;
const REQUEST = [-32_600, 'Invalid request'] as const;
const METHOD = [-32_601, 'Method not found'] as const;
const PARAMS = [-32_602, 'Invalid params'] as const;
const INTERNAL = [-32_603, 'Internal error'] as const;
const AUTHENTICATION = [-32_000, 'Authentication error'] as const;
const NOT_FOUND = [-32_001, 'Task not found'] as const;
const NOT_CANCELABLE = [-32_002, 'Task not cancelable'] as const;

const ERROR_OF_FAULT: Readonly<Record<Fault, readonly [code: number, message: string]>> = {
  PARSE_ERROR: PARSE,
  INVALID_REQUEST: REQUEST,
  BODY_TOO_LARGE: REQUEST,
  METHOD_NOT_FOUND: METHOD,
  INVALID_PARAMS: PARAMS,
  AGENT_NOT_FOUND: PARAMS,
  CONTENT_TYPE_NOT_SUPPORTED: PARAMS,
  UNSUPPORTED_OPERATION: PARAMS,
  TASK_GENERATION_MISMATCH: PARAMS,
  EXTENSION_SUPPORT_REQUIRED: PARAMS,
  VERSION_NOT_SUPPORTED: REQUEST,
  PUSH_NOTIFICATION_NOT_SUPPORTED: METHOD,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: METHOD,
  INTERNAL,
  UNAVAILABLE: INTERNAL,
  UNAUTHENTICATED: AUTHENTICATION,
  PERMISSION_DENIED: AUTHENTICATION,
  RATE_LIMITED: AUTHENTICATION,
  QUOTA_EXCEEDED: AUTHENTICATION,
  TASK_NOT_FOUND: NOT_FOUND,
  TASK_NOT_CANCELABLE: NOT_CANCELABLE,
};

/**
 * An error as the binding answers it, always with status 200 (C-09): the seed's number and message, and in `data` what tells
 * apart what shares a number.
 *
 * - `reason`            the name of the fault, such as UNAUTHENTICATED, PERMISSION_DENIED, RATE_LIMITED.
 * - `detail`            a sentence for people.
 * - `retryAfterSeconds` when it may be worth another try.
 */
export function writeXprError(error: unknown): WrittenError {
  const reason = faultOf(error);
  const shown: OrreryError = isOrreryError(error) && reason !== 'INTERNAL' ? error : internalFault();
  const [code, message] = ERROR_OF_FAULT[reason];
  const retryAfterMs = shown.details['retryAfterMs'];
  const later =
    typeof retryAfterMs === 'number' ? { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) } : {};
  return { code, message, httpStatus: 200, data: { reason, detail: shown.message, ...later } };
}
