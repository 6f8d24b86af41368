import { boundedText, TooManyBytes } from '../chain/bounded-text.ts';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { type A2AError, clientError } from './a2a-error.ts';

/**
 * - `timeoutMs` for the whole exchange, body included.
 * - `maxBytes`  largest body of an answer.
 */
export interface HttpExchangeDeps {
  readonly fetch: typeof fetch;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** A request. Redirects are not followed, because its signature is for one server. */
export type HttpRequest = Pick<RequestInit, 'method' | 'headers' | 'body'> & {
  readonly signal?: AbortSignal;
};

/** Sends a request and reads the answer. Rejects with an `A2AError` if that fails, takes too long, or is too large. */
export async function httpExchange(
  url: string,
  request: HttpRequest,
  deps: HttpExchangeDeps,
): Promise<HttpAnswer> {
  const { clock, timeoutMs, maxBytes } = deps;
  const late = new AbortController();
  const cancel = clock.setTimer(timeoutMs, () => late.abort());
  const { signal: given, ...rest } = request;
  const signal = given === undefined ? late.signal : AbortSignal.any([given, late.signal]);
  try {
    const response = await deps.fetch(url, { ...rest, redirect: 'manual', signal });
    if (isRedirection(response)) {
      await response.body?.cancel();
      throw clientError('REDIRECT', `${url} sends elsewhere, which is not followed`, {
        status: response.status,
      });
    }
    return { status: response.status, text: await boundedText(response, maxBytes) };
  } catch (error) {
    throw explained(error, url, {
      isLate: late.signal.aborted,
      isCancelled: given?.aborted === true,
      timeoutMs,
    });
  } finally {
    cancel();
  }
}

const isRedirection = ({ status, type }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400);

interface Circumstances {
  readonly isLate: boolean;
  readonly isCancelled: boolean;
  readonly timeoutMs: number;
}

function explained(error: unknown, url: string, { isLate, isCancelled, timeoutMs }: Circumstances): A2AError {
  if (error instanceof Error && error.name === 'A2AError') return error as A2AError;
  if (isLate) return clientError('TIMEOUT', `${url} did not answer within ${timeoutMs} ms`, { timeoutMs });
  if (isCancelled) return clientError('CANCELLED', `The request to ${url} was cancelled`, { cause: error });
  if (error instanceof TooManyBytes)
    return clientError('TOO_LARGE', `${url}: ${error.message}`, { cause: error });
  return clientError('NETWORK', `${url} cannot be reached: ${reasonOf(rootOf(error))}`, { cause: error });
}

/** The error to show: `fetch failed` has the reason in its cause. */
const rootOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;
