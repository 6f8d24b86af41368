import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Answer, HeaderFields } from '../../http/answer.ts';
import type { Json } from '../wire/json.ts';
import { type Fault, faultOf } from '../wire/faults.ts';

/** What HTTP itself has a word for, in every protocol over it. */
const HTTP_STATUS: Partial<Record<Fault, number>> = {
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  BODY_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
};

/** The status of an error that HTTP has a word for; undefined: it is a matter of the protocol alone. */
export const httpStatusOf = (error: OrreryError): number | undefined =>
  error.details['fault'] === 'CONTENT_TYPE_NOT_SUPPORTED' && error.details['field'] === 'Content-Type'
    ? 415
    : HTTP_STATUS[faultOf(error)];

/** Headers that go with an error: when to come back, and how to prove who one is. */
export function errorHeaders(error: OrreryError): HeaderFields {
  const { retryAfterMs, schemes } = error.details;
  return {
    ...(typeof retryAfterMs === 'number' ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } : {}),
    ...(Array.isArray(schemes) && schemes.length > 0 ? { 'www-authenticate': schemes.join(', ') } : {}),
  };
}

/** - `headers` by names in lower case. */
export interface JsonAnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<HeaderFields>;
}

/** A body of JSON. Every answer of a protocol is of the moment: nobody is to keep it. */
export const jsonAnswer = (body: Json, { status = 200, headers }: JsonAnswerOptions = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
});
