import { APICallError } from 'ai';
import { remoteFailed, remoteUnreachable } from '../../runtime/protocol/edge-errors.ts';
import { OrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import { cutText } from './cut-text.ts';
import { retryAfterIn } from './retry-after.ts';

/**
 * A call that came to nothing.
 *
 * - `error`      what its asker gets if it is not tried again: RATE_LIMITED, REMOTE_UNREACHABLE or REMOTE_FAILED.
 * - `isPassing`  another attempt may go well.
 * - `mayBeBilled` the model may have worked on it, so that another attempt may be paid for a second time.
 */
export interface ModelFailure {
  readonly error: OrreryError;
  readonly isPassing: boolean;
  readonly mayBeBilled: boolean;
  readonly retryAfterMs: number | undefined;
}

export interface FailureDeps {
  /** Where the model is, and its name: named in the error. */
  readonly url: string;
  readonly name: string;
  readonly secret: string | undefined;
  readonly nowMs: number;
}

const TOO_MANY = 429;
/** Status codes of requests that no model has seen: too many, out of service, overloaded. */
const TURNED_AWAY: ReadonlySet<number> = new Set([408, 425, TOO_MANY, 503, 529]);
const SERVER_ERRORS = 500;

/** Codes of requests that cannot have arrived. */
const NEVER_ARRIVED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What an error of the SDK, of HTTP or of the network means for who asked. */
export function failureOf(error: unknown, deps: FailureDeps): ModelFailure {
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  return status === undefined || status < 400
    ? withoutStatus(error, deps)
    : withStatus(status, error as APICallError, deps);
}

function withStatus(status: number, error: APICallError, deps: FailureDeps): ModelFailure {
  const waitMs = retryAfterIn(error.responseHeaders, deps.nowMs);
  const details = {
    model: deps.name,
    status,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
  const reason = `HTTP ${status}: ${said(error, deps)}`;
  const failed =
    status === TOO_MANY
      ? new OrreryError('RATE_LIMITED', `${deps.url} takes no more requests for now: ${reason}`, {
          details: { url: deps.url, reason, ...details },
        })
      : remoteFailed(deps.url, reason, details);
  const isTurnedAway = TURNED_AWAY.has(status);
  const mayBeBilled = status >= SERVER_ERRORS && !isTurnedAway;
  return { error: failed, isPassing: isTurnedAway || mayBeBilled, mayBeBilled, retryAfterMs: waitMs };
}

function withoutStatus(error: unknown, deps: FailureDeps): ModelFailure {
  const { url, name } = deps;
  const code = networkCode(error);
  const reason = said(error, deps);
  if (code === undefined)
    return {
      error: remoteFailed(url, reason, { model: name }),
      isPassing: true,
      mayBeBilled: true,
      retryAfterMs: undefined,
    };
  const mayHaveArrived = !NEVER_ARRIVED.has(code);
  return {
    error: remoteUnreachable(url, reason, { mayHaveArrived }),
    isPassing: true,
    mayBeBilled: mayHaveArrived,
    retryAfterMs: undefined,
  };
}

/** The error code of the system or of the HTTP client, through all causes. */
function networkCode(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === 'string' && /^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code)) return code;
  const inner: unknown = Array.isArray(errors) ? errors[0] : error.cause;
  return networkCode(inner, depth + 1);
}

const MAX_SAID = 400;

/** The provider's message without the key: it may repeat what it was sent. */
function said(error: unknown, { secret }: FailureDeps): string {
  const text = messageOf(error);
  const safe = secret === undefined ? text : text.replaceAll(secret, '[key]');
  return cutText(safe, MAX_SAID);
}

/** An error, or what a stream gives in place of one. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return reasonOf(error);
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : reasonOf(error);
}
