import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import { textResponse } from '../http/text-response.ts';
import type { Json } from './dialect.ts';
import { type Fault, faultOf } from './faults.ts';

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
  error.details['fault'] === 'INVALID_REQUEST' && error.details['field'] === 'Content-Type'
    ? 415
    : HTTP_STATUS[faultOf(error)];

/** Headers that go with an error: when to come back, and how to prove who one is. */
export function errorHeaders(error: OrreryError): Record<string, string> {
  const { retryAfterMs, schemes } = error.details;
  return {
    ...(typeof retryAfterMs === 'number' ? { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) } : {}),
    ...(Array.isArray(schemes) && schemes.length > 0 ? { 'WWW-Authenticate': schemes.join(', ') } : {}),
  };
}

/** A body of JSON. Every answer of a protocol is of the moment: nobody is to keep it. */
export const jsonResponse = (
  body: Json,
  {
    status = 200,
    headers = {},
  }: { readonly status?: number; readonly headers?: Record<string, string> } = {},
): Response =>
  textResponse(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  });
