import type { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { Json } from '../json.ts';
import type { WrittenError } from '../dialect.ts';
import { type Fault, faultOf } from '../faults.ts';
import { writeError as writeNumbered } from '../v03/errors.ts';

/** By which names the skills of seed 3 tell what is wrong. */
const NAME: Readonly<Record<Fault, string>> = {
  TASK_NOT_FOUND: 'NOT_FOUND',
  TASK_NOT_CANCELABLE: 'INVALID_REQUEST',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'INVALID_REQUEST',
  UNSUPPORTED_OPERATION: 'INVALID_REQUEST',
  CONTENT_TYPE_NOT_SUPPORTED: 'INVALID_REQUEST',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'NOT_FOUND',
  EXTENSION_SUPPORT_REQUIRED: 'INVALID_REQUEST',
  VERSION_NOT_SUPPORTED: 'INVALID_REQUEST',
  TASK_GENERATION_MISMATCH: 'INVALID_REQUEST',
  PARSE_ERROR: 'INVALID_REQUEST',
  INVALID_REQUEST: 'INVALID_REQUEST',
  METHOD_NOT_FOUND: 'NOT_FOUND',
  INVALID_PARAMS: 'INVALID_REQUEST',
  INTERNAL: 'INTERNAL_ERROR',
  AGENT_NOT_FOUND: 'NOT_FOUND',
  UNAUTHENTICATED: 'UNAUTHORIZED',
  PERMISSION_DENIED: 'UNAUTHORIZED',
  RATE_LIMITED: 'RATE_LIMIT_EXCEEDED',
  QUOTA_EXCEEDED: 'RATE_LIMIT_EXCEEDED',
  BODY_TOO_LARGE: 'INVALID_REQUEST',
  UNAVAILABLE: 'INTERNAL_ERROR',
};

/** Numbered as in 0.3; `data.code` is seed 3's name, and `data.state` that nothing came of it. */
export function writeError(error: OrreryError): WrittenError {
  const { data, ...written } = writeNumbered(error);
  return { ...written, data: { ...(data as object), state: 'failed', code: NAME[faultOf(error)] } };
}

/** What a refused request came to, as a task that failed. */
export const failedBody = (error: OrreryError): Json => ({
  status: { state: 'failed' },
  error: { code: NAME[faultOf(error)], message: error.message },
});
