import { APICallError } from 'ai';
import { remoteFailed, remoteUnreachable } from '../../../runtime/protocol/edge-errors.ts';
import { type OrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';

const MOST_CHARS = 400;

/** Where it was asked, and the key, which the provider may repeat. */
interface Asked {
  readonly url: string;
  readonly model: string;
  readonly secret: string | undefined;
}

/** What an error of the SDK, of HTTP or of the network means: REMOTE_FAILED if anybody answered, else REMOTE_UNREACHABLE. */
export function embeddingFailure(error: unknown, { url, model, secret }: Asked): OrreryError {
  const status = APICallError.isInstance(error) ? error.statusCode : undefined;
  const said = reasonOf(error);
  const reason = (secret === undefined ? said : said.replaceAll(secret, '[key]')).slice(0, MOST_CHARS);
  if (status !== undefined)
    return remoteFailed(url, status < 400 ? reason : `HTTP ${status}: ${reason}`, { model, status });
  return isOfNetwork(error)
    ? remoteUnreachable(url, reason, { mayHaveArrived: true })
    : remoteFailed(url, reason, { model });
}

const DEEPEST_CAUSE = 5;

/** Whether it, or one of its causes, has an error code of the system or of the HTTP client. */
function isOfNetwork(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return false;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === 'string' && /^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code)) return true;
  return isOfNetwork(Array.isArray(errors) ? errors[0] : error.cause, depth + 1);
}

/** The request took too long. */
export const noAnswerWithin = (url: string, timeoutMs: number): OrreryError =>
  remoteUnreachable(url, `there was no answer within ${timeoutMs} ms`, { mayHaveArrived: true });
