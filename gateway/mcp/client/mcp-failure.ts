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

/** The connection is over: nobody knows what has come of what was asked. Whoever holds it has to begin a new one. */
export class ConnectionLost extends Error {}

/** What of an error of theirs is shown. */
const MAX_SAID = 1_000;

/** What went wrong with a request to `target`, in words of ours. */
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
  // What `fetch` throws when nobody is there, or not any more.
  if (error instanceof TypeError && error.cause !== undefined)
    return remoteUnreachable(target, reasonOf(error.cause), {
      mayHaveArrived: !neverArrived(error.cause),
      cause: error,
    });
  return remoteFailed(target, said);
}

/** The server answers that something is wrong. */
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
  // Of an answer without a text nothing else is known.
  return remoteFailed(target, said.replace(/:\s*$/, ` (HTTP ${status})`), { status });
}

/** The stream of events of before 2025-03-26 could not be had: nothing was sent yet. */
function streamFailureOf(error: SseError, said: string, target: string): OrreryError {
  const { code: status } = error;
  if (status !== undefined) return httpFailureOf({ status, said, target, cause: error });
  return remoteUnreachable(target, said, { mayHaveArrived: false, cause: error });
}

/** No connection was made, so nobody has read anything. */
const neverArrived = (cause: unknown): boolean =>
  NOBODY_THERE.has(String((cause as { code?: unknown } | null)?.code));
const NOBODY_THERE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
