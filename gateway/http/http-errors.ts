import { type ErrorCode, isOrreryError } from '../../runtime/protocol/errors.ts';
import { INTERNAL_SENTENCE, isToldAsItIs } from '../../runtime/protocol/told-failure.ts';
import { type Answer, type HeaderFields, responseOf } from './answer.ts';

/** Errors of the edge, before any protocol has seen the request. */
export type EdgeFault =
  | 'BAD_REQUEST'
  | 'NO_SUCH_PATH'
  | 'METHOD_NOT_ALLOWED'
  | 'UNSUPPORTED_ENCODING'
  | 'HOST_NOT_SERVED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'TOO_SLOW'
  | 'HEADERS_TOO_LARGE'
  | 'INTERNAL';

const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_OPTIONS: 400,
  INVALID_PAYLOAD: 400,
  INVALID_ENVELOPE: 400,
  UNAUTHENTICATED: 401,
  NOT_PERMITTED: 403,
  AGENT_NOT_FOUND: 404,
  CAPABILITY_NOT_FOUND: 404,
  TASK_NOT_FOUND: 404,
  TASK_OVER: 409,
  TASK_GENERATION_MISMATCH: 409,
  BODY_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  MAILBOX_FULL: 503,
  STORE_FAILED: 503,
  SYSTEM_STOPPED: 503,
  CONTROL_LOST: 503,
  START_FAILED: 503,
  DEADLINE_EXCEEDED: 504,
};

/** Codes of errors that are the caller's fault. */
const CALLERS: ReadonlySet<ErrorCode> = new Set(['INVALID_OPTIONS', 'INVALID_ENVELOPE']);

/** The HTTP status of an error; 500 for one that is not the caller's business. */
export const httpStatusOf = (error: unknown): number =>
  isOrreryError(error) ? (STATUS[error.code] ?? 500) : 500;

/** The headers that belong to an error: when it is worth trying again. */
export function httpErrorHeaders(error: unknown): Record<string, string> {
  const retryAfterMs = isOrreryError(error) ? error.details['retryAfterMs'] : undefined;
  return typeof retryAfterMs === 'number' ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } : {};
}

/** An error as JSON: `{error: {code, message}}`. */
export const jsonAnswer = (
  status: number,
  code: ErrorCode | EdgeFault,
  message: string,
  headers: HeaderFields = {},
): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ error: { code, message } }),
});

/** The same in the shape of `fetch`. */
export const jsonError = (...given: Parameters<typeof jsonAnswer>): Response =>
  responseOf(jsonAnswer(...given));

/** The answer to what a handler threw. Errors that are not the caller's business are not told. */
export function errorAnswer(error: unknown): Answer {
  const status = httpStatusOf(error);
  if (!isOrreryError(error) || status === 500)
    return jsonAnswer(500, 'INTERNAL', 'The request failed; the operator has been told why');
  const isTold = isToldAsItIs(error) || CALLERS.has(error.code);
  return jsonAnswer(status, error.code, isTold ? error.message : INTERNAL_SENTENCE, httpErrorHeaders(error));
}
