import type { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { Json, WrittenError } from '../dialect.ts';
import { type Fault, faultOf } from '../faults.ts';

/** What a fault is in A2A 1.0. `reason` of its ErrorInfo. @default the fault's own name */
interface Row {
  readonly code: number;
  readonly httpStatus: number;
  readonly reason?: string;
}

const ROWS: Readonly<Record<Fault, Row>> = {
  TASK_NOT_FOUND: { code: -32_001, httpStatus: 404 },
  TASK_NOT_CANCELABLE: { code: -32_002, httpStatus: 400 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32_003, httpStatus: 400 },
  UNSUPPORTED_OPERATION: { code: -32_004, httpStatus: 400 },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32_005, httpStatus: 400 },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { code: -32_007, httpStatus: 400 },
  EXTENSION_SUPPORT_REQUIRED: { code: -32_008, httpStatus: 400 },
  VERSION_NOT_SUPPORTED: { code: -32_009, httpStatus: 400 },
  TASK_GENERATION_MISMATCH: { code: -32_010, httpStatus: 409 },
  PARSE_ERROR: { code: -32_700, httpStatus: 400 },
  INVALID_REQUEST: { code: -32_600, httpStatus: 400 },
  METHOD_NOT_FOUND: { code: -32_601, httpStatus: 404 },
  INVALID_PARAMS: { code: -32_602, httpStatus: 400 },
  INTERNAL: { code: -32_603, httpStatus: 500, reason: 'INTERNAL_ERROR' },
  // A2A leaves the codes from -32099 on that it has no use for to whoever serves.
  AGENT_NOT_FOUND: { code: -32_602, httpStatus: 404 },
  UNAUTHENTICATED: { code: -32_050, httpStatus: 401 },
  PERMISSION_DENIED: { code: -32_051, httpStatus: 403 },
  RATE_LIMITED: { code: -32_052, httpStatus: 429 },
  QUOTA_EXCEEDED: { code: -32_053, httpStatus: 429 },
  BODY_TOO_LARGE: { code: -32_600, httpStatus: 413 },
  UNAVAILABLE: { code: -32_054, httpStatus: 503 },
};

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const DOMAIN = 'a2a-protocol.org';

/** The error with its ErrorInfo; facts about it are metadata, which are texts there: `code` is its own. */
export function writeError(error: OrreryError): WrittenError {
  const fault = faultOf(error);
  const { code, httpStatus, reason = fault } = ROWS[fault];
  const info = { '@type': ERROR_INFO, reason, domain: DOMAIN, metadata: metadataOf(error) };
  return { code, httpStatus, message: error.message, data: [info] };
}

function metadataOf(error: OrreryError): { readonly [key: string]: Json } {
  const { details } = error;
  const facts = Object.entries(details)
    .filter(([name, value]) => name !== 'fault' && value !== undefined)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  const own = ownCodeOf(error);
  const said = own === undefined ? facts : [['code', own], ...facts];
  return Object.fromEntries(said) as { readonly [key: string]: Json };
}

/** The code of an error that a rule or the system has made; one that is a fault is known by that. */
export const ownCodeOf = (error: OrreryError): string | undefined =>
  error.details['fault'] === undefined && faultOf(error) !== 'INTERNAL' ? error.code : undefined;
