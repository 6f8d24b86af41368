import { isOrreryError, OrreryError } from '../../../runtime/protocol/errors.ts';
import { INTERNAL_SENTENCE } from '../../../runtime/protocol/told-failure.ts';

/**
 * What a fault is in A2A 1.0.
 *
 * - `rpcStatus` the name that google.rpc.Code has for it: A2A's own table, and for the others what is usual.
 * - `reason`    of its ErrorInfo. @default the fault's own name
 */
export interface FaultRow {
  readonly code: number;
  readonly httpStatus: number;
  readonly rpcStatus: string;
  readonly reason?: string;
}

const ROWS = {
  TASK_NOT_FOUND: { code: -32_001, httpStatus: 404, rpcStatus: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { code: -32_002, httpStatus: 400, rpcStatus: 'FAILED_PRECONDITION' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { code: -32_003, httpStatus: 400, rpcStatus: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { code: -32_004, httpStatus: 400, rpcStatus: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32_005, httpStatus: 400, rpcStatus: 'INVALID_ARGUMENT' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { code: -32_007, httpStatus: 400, rpcStatus: 'FAILED_PRECONDITION' },
  EXTENSION_SUPPORT_REQUIRED: { code: -32_008, httpStatus: 400, rpcStatus: 'FAILED_PRECONDITION' },
  VERSION_NOT_SUPPORTED: { code: -32_009, httpStatus: 400, rpcStatus: 'FAILED_PRECONDITION' },
  TASK_GENERATION_MISMATCH: { code: -32_010, httpStatus: 409, rpcStatus: 'ABORTED' },
  PARSE_ERROR: { code: -32_700, httpStatus: 400, rpcStatus: 'INVALID_ARGUMENT' },
  INVALID_REQUEST: { code: -32_600, httpStatus: 400, rpcStatus: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { code: -32_601, httpStatus: 404, rpcStatus: 'UNIMPLEMENTED' },
  INVALID_PARAMS: { code: -32_602, httpStatus: 400, rpcStatus: 'INVALID_ARGUMENT' },
  INTERNAL: { code: -32_603, httpStatus: 500, rpcStatus: 'INTERNAL', reason: 'INTERNAL_ERROR' },
  // A2A leaves the codes from -32099 on that it has no use for to whoever serves.
  AGENT_NOT_FOUND: { code: -32_602, httpStatus: 404, rpcStatus: 'NOT_FOUND' },
  UNAUTHENTICATED: { code: -32_050, httpStatus: 401, rpcStatus: 'UNAUTHENTICATED' },
  PERMISSION_DENIED: { code: -32_051, httpStatus: 403, rpcStatus: 'PERMISSION_DENIED' },
  RATE_LIMITED: { code: -32_052, httpStatus: 429, rpcStatus: 'RESOURCE_EXHAUSTED' },
  QUOTA_EXCEEDED: { code: -32_053, httpStatus: 429, rpcStatus: 'RESOURCE_EXHAUSTED' },
  BODY_TOO_LARGE: { code: -32_600, httpStatus: 413, rpcStatus: 'INVALID_ARGUMENT' },
  UNAVAILABLE: { code: -32_054, httpStatus: 503, rpcStatus: 'UNAVAILABLE' },
} as const satisfies Readonly<Record<string, FaultRow>>;

/**
 * What can be wrong with a request, whatever the dialect. Each dialect has a table from these to its own numbers.
 *
 * The first nine are A2A's own errors; the next five those of JSON-RPC; the others are of the gateway.
 */
export type Fault = keyof typeof ROWS;
export const FAULTS = Object.keys(ROWS) as readonly Fault[];

/** The numbers of A2A 1.0; those of its own errors are the same in every version that has them. */
export const FAULT_ROWS: Readonly<Record<Fault, FaultRow>> = ROWS;

/** Makes the error of a fault. */
export const fault = (
  name: Fault,
  sentence: string,
  details: Readonly<Record<string, unknown>> = {},
): OrreryError => new OrreryError('REFUSED', sentence, { details: { ...details, fault: name } });

/** The fault of a wrong parameter. */
export const wrongParameter = (field: string, value: unknown, expected: string): OrreryError =>
  fault('INVALID_PARAMS', sentenceOf(field, value, expected), { field });

/** The fault of a request that is none of the protocol. */
export const wrongRequest = (field: string, value: unknown, expected: string): OrreryError =>
  fault('INVALID_REQUEST', sentenceOf(field, value, expected), { field });

const MAX_SHOWN = 60;

function sentenceOf(field: string, value: unknown, expected: string): string {
  const text = JSON.stringify(value) ?? 'left out';
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `${field} is ${shown}, expected ${expected}`;
}

/** The fault of an error. Unforeseen errors are INTERNAL, and their text is not told. */
export function faultOf(error: unknown): Fault {
  if (!isOrreryError(error)) return 'INTERNAL';
  const named = error.details['fault'];
  if (isFault(named)) return named;
  return FAULT_OF_CODE[error.code] ?? 'INTERNAL';
}

/** The error that a caller gets in place of an internal one. */
export const internalFault = (): OrreryError => fault('INTERNAL', INTERNAL_SENTENCE);

const isFault = (value: unknown): value is Fault => (FAULTS as readonly unknown[]).includes(value);

const FAULT_OF_CODE: Readonly<Record<string, Fault>> = {
  TASK_NOT_FOUND: 'TASK_NOT_FOUND',
  TASK_OVER: 'UNSUPPORTED_OPERATION',
  TASK_GENERATION_MISMATCH: 'TASK_GENERATION_MISMATCH',
  INVALID_PAYLOAD: 'INVALID_PARAMS',
  INVALID_OPTIONS: 'INVALID_PARAMS',
  AGENT_NOT_FOUND: 'AGENT_NOT_FOUND',
  CAPABILITY_NOT_FOUND: 'INVALID_PARAMS',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  NOT_PERMITTED: 'PERMISSION_DENIED',
  TIER_VIOLATION: 'PERMISSION_DENIED',
  SANDBOX_VIOLATION: 'PERMISSION_DENIED',
  ESCALATION_REQUIRED: 'PERMISSION_DENIED',
  REFUSED: 'PERMISSION_DENIED',
  BUDGET_EXCEEDED: 'PERMISSION_DENIED',
  PATH_LOOP: 'PERMISSION_DENIED',
  HOP_LIMIT: 'PERMISSION_DENIED',
  RATE_LIMITED: 'RATE_LIMITED',
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  MAILBOX_FULL: 'UNAVAILABLE',
  SYSTEM_STOPPED: 'UNAVAILABLE',
  CANCELLED: 'UNAVAILABLE',
};
