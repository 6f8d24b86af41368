import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import {
  notPermitted,
  remoteFailed,
  remoteUnreachable,
  unauthenticated,
} from '../../../runtime/protocol/edge-errors.ts';
import { deadlineExceeded, isOrreryError, OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';

/** The connection is over; requests may or may not have been handled. A new connection is needed. */
export class ConnectionLost extends Error {}

/** The longest text of a server's error that is shown, characters. */
const MAX_SAID = 1_000;

/** Converts the error of a request to `target` to one of our errors, or to `ConnectionLost`. */
export function failureOf(error: unknown, target: string, timeoutMs: number): Error {
  if (isOrreryError(error) || error instanceof ConnectionLost) return error;
  const said = reasonOf(error).slice(0, MAX_SAID);
  if (error instanceof UnauthorizedError) return unauthenticated(`${target}: ${said}`);
  if (error instanceof ProtocolError) return refusalOf(error, said, target);
  if (error instanceof SdkHttpError)
    return httpFailureOf({ status: error.status, said, target, cause: error });
  if (error instanceof SseError) return streamFailureOf(error, said, target);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout)
      return deadlineExceeded(`What ${target} was asked for`, timeoutMs);
    if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected)
      return new ConnectionLost(said);
    return remoteFailed(target, said, { code: error.code });
  }
  // `fetch` throws this when there is no connection, or it breaks.
  if (error instanceof TypeError && error.cause !== undefined)
    return remoteUnreachable(target, reasonOf(error.cause), {
      mayHaveArrived: !neverArrived(error.cause),
      cause: error,
    });
  return remoteFailed(target, said);
}

/** Converts an error answer of the server. */
function refusalOf(error: ProtocolError, said: string, target: string): OrreryError {
  if (error.code === ProtocolErrorCode.InvalidParams)
    return new OrreryError('INVALID_PAYLOAD', `${target} does not take it: ${said}`, {
      details: { target, code: error.code },
    });
  return remoteFailed(target, said, { code: error.code });
}

interface HttpFailure {
  readonly status: number | undefined;
  readonly said: string;
  readonly target: string;
  readonly cause: unknown;
}

function httpFailureOf({ status, said, target, cause }: HttpFailure): OrreryError {
  if (status === 401) return unauthenticated(`${target}: ${said}`);
  if (status === 403) return notPermitted(`${target}: ${said}`);
  if (status === 429 || status === 503)
    return remoteUnreachable(target, said, { mayHaveArrived: false, cause });
  // The status stands in for a text that is missing.
  return remoteFailed(target, said.replace(/:\s*$/, ` (HTTP ${status})`), { status });
}

/** Converts the error of an SSE stream that could not be opened: no request was sent. */
function streamFailureOf(error: SseError, said: string, target: string): OrreryError {
  const { code: status } = error;
  if (status !== undefined) return httpFailureOf({ status, said, target, cause: error });
  return remoteUnreachable(target, said, { mayHaveArrived: false, cause: error });
}

/** Whether no connection was made, so the request cannot have arrived. */
const neverArrived = (cause: unknown): boolean =>
  NOBODY_THERE.has(String((cause as { code?: unknown } | null)?.code));
const NOBODY_THERE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
