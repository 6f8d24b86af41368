import { z } from 'zod';
import { remoteFailed, remoteUnreachable } from '../../../runtime/protocol/edge-errors.ts';
import { type ErrorCode, OrreryError } from '../../../runtime/protocol/errors.ts';
import { sharedCodeOf } from '../../../runtime/protocol/remote-codes.ts';
import { type Fault, FAULT_ROWS } from '../wire/faults.ts';

/** An error as another system reports it, in JSON-RPC or over REST. */
export interface SaidError {
  /** JSON-RPC's number, if there was one. */
  readonly code: number | undefined;
  readonly status: number;
  readonly message: string;
  /** The reason in google.rpc.ErrorInfo, such as TASK_NOT_FOUND. */
  readonly reason: string | undefined;
  /** The code of Orrery, where the other side gives one. */
  readonly own: string | undefined;
  readonly data: unknown;
  readonly retryAfterMs: number | undefined;
}

/** Our codes for faults of A2A; all others are REMOTE_FAILED. */
const CODE_OF_FAULT = {
  TASK_NOT_FOUND: 'TASK_NOT_FOUND',
  TASK_NOT_CANCELABLE: 'TASK_OVER',
  INVALID_PARAMS: 'INVALID_PAYLOAD',
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  PERMISSION_DENIED: 'NOT_PERMITTED',
  RATE_LIMITED: 'RATE_LIMITED',
  QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
  BODY_TOO_LARGE: 'BODY_TOO_LARGE',
} as const satisfies Partial<Record<Fault, ErrorCode>>;
type MeantFault = keyof typeof CODE_OF_FAULT;

/** Faults whose numbers A2A and JSON-RPC define, so that they mean the same everywhere. */
const NUMBERED = ['TASK_NOT_FOUND', 'TASK_NOT_CANCELABLE', 'INVALID_PARAMS'] as const;
/** Faults that HTTP has statuses for. */
const BY_STATUS = ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'BODY_TOO_LARGE', 'RATE_LIMITED'] as const;

const isFault = (name: Fault, { code, reason }: Pick<SaidError, 'code' | 'reason'>): boolean =>
  code === FAULT_ROWS[name].code || reason === name;

const MAX_SHOWN = 500;
const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/**
 * Our error for one of another system. Its code follows the reported one. It is REMOTE_UNREACHABLE if a proxy between the two has
 * answered, and REMOTE_FAILED for everything else. `details.remote` holds what was reported.
 */
export function errorOf(origin: string, said: SaidError): OrreryError {
  const { status, retryAfterMs } = said;
  const message = shown(said.message);
  if (said.code === undefined && said.reason === undefined && status >= 502 && status <= 504)
    return remoteUnreachable(origin, `HTTP ${status}: ${message}`, {
      mayHaveArrived: status !== 503,
      retryAfterMs,
    });
  const remote = {
    status,
    message,
    ...(said.code === undefined ? {} : { code: said.code }),
    ...(said.reason === undefined ? {} : { reason: said.reason }),
    ...(meansOtherVersion(said) ? { isOtherVersion: true } : {}),
    ...(isUnsupported(said) ? { isUnsupported: true } : {}),
  };
  const code = codeOf(said);
  const details = { remote, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (code === undefined) return remoteFailed(origin, message, details);
  return new OrreryError(code, `${origin} answers: ${message}`, { details: { url: origin, ...details } });
}

function codeOf({ reason, own, code, status, message }: SaidError): ErrorCode | undefined {
  const shared = sharedCodeOf(own ?? reason);
  if (shared !== undefined) return shared;
  const named: MeantFault | undefined =
    reason !== undefined && Object.hasOwn(CODE_OF_FAULT, reason)
      ? (reason as MeantFault)
      : (NUMBERED.find((fault) => FAULT_ROWS[fault].code === code) ??
        BY_STATUS.find((fault) => FAULT_ROWS[fault].httpStatus === status));
  const known = named === undefined ? undefined : CODE_OF_FAULT[named];
  // REST has no numbers: a 404 means the path, unless its text says that it means a task.
  return (
    known ?? (code === undefined && status === 404 && /task/i.test(message) ? 'TASK_NOT_FOUND' : undefined)
  );
}

/** Whether the other side does not know this binding or version: nothing was done, and another may be tried. */
const meansOtherVersion = ({ code, reason, status }: SaidError): boolean =>
  isFault('VERSION_NOT_SUPPORTED', { code, reason }) ||
  code === FAULT_ROWS.METHOD_NOT_FOUND.code ||
  (code === undefined && reason === undefined && (status === 404 || status === 405));

const isUnsupported = ({ code, reason }: SaidError): boolean =>
  isFault('UNSUPPORTED_OPERATION', { code, reason });

const facts = (error: unknown): Readonly<Record<string, unknown>> => {
  const { details } = (error ?? {}) as { details?: { remote?: unknown } };
  return (details?.remote ?? {}) as Readonly<Record<string, unknown>>;
};

/** Whether the other side does not know this version. */
export const isOtherVersion = (error: unknown): boolean => facts(error)['isOtherVersion'] === true;

/** Whether the other side knows the operation and does not do it here, such as subscribing to a task that is over. */
export const isUnsupportedThere = (error: unknown): boolean => facts(error)['isUnsupported'] === true;

const Code = z.string().optional();
const Info = z.object({
  reason: z.string(),
  code: Code.catch(undefined),
  metadata: z.object({ code: Code }).optional().catch(undefined),
});
const RpcError = z.object({
  code: z.number(),
  message: z.string().default(''),
  data: z.unknown().optional(),
});
const RestError = z.object({
  message: z.string().default(''),
  details: z.unknown().optional(),
  code: z.unknown().optional(),
});

/** Reads the `error` member of a JSON-RPC answer. */
export function saidInRpc(error: unknown, status: number, retryAfterMs: number | undefined): SaidError {
  const parsed = RpcError.safeParse(error);
  if (!parsed.success)
    return {
      code: undefined,
      status,
      message: 'an error that is none',
      reason: 'INTERNAL',
      own: undefined,
      data: error,
      retryAfterMs,
    };
  const { code, message, data } = parsed.data;
  return { code, status, message, ...reasonIn(data), data, retryAfterMs };
}

/** Reads the error in a body of REST: `{error: {...}}` of google.rpc.Status, or its fields without `error`. */
export function saidInBody(body: unknown, status: number, retryAfterMs: number | undefined): SaidError {
  const holder = (typeof body === 'object' && body !== null ? body : {}) as { error?: unknown };
  const parsed = RestError.safeParse(holder.error ?? body);
  const { message = '', details, code } = parsed.data ?? {};
  const number = typeof code === 'number' && code < 0 ? code : undefined;
  return {
    code: number,
    status,
    message: message === '' ? `HTTP ${status}` : message,
    ...reasonIn(details),
    data: details,
    retryAfterMs,
  };
}

function reasonIn(data: unknown): Pick<SaidError, 'reason' | 'own'> {
  for (const one of Array.isArray(data) ? data : [data]) {
    const info = Info.safeParse(one);
    if (info.success) return { reason: info.data.reason, own: info.data.code ?? info.data.metadata?.code };
  }
  return { reason: undefined, own: undefined };
}
