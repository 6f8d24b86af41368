// Not by its name: an older Node would say that it has no such thing, before it can be refused.
import { OrreryError, refused } from './errors.ts';

/* What goes wrong at the edges of a system: with who comes in, with what is elsewhere, with what is not installed. */

/** The caller has not proved who they are. `reason` says what is missing or invalid, never what was expected. */
export const unauthenticated = (reason: string): OrreryError =>
  new OrreryError('UNAUTHENTICATED', `The request is not authenticated: ${reason}`, { details: { reason } });

/**
 * Nobody answers at an address outside, or not any more. `mayHaveArrived`: the request may have been read there, and may be in
 * work. `retryAfterMs`: when another try may help.
 */
export const remoteUnreachable = (
  url: string,
  reason: string,
  {
    mayHaveArrived,
    retryAfterMs,
    cause,
  }: {
    readonly mayHaveArrived: boolean;
    readonly retryAfterMs?: number | undefined;
    readonly cause?: unknown;
  },
): OrreryError =>
  new OrreryError('REMOTE_UNREACHABLE', `${url} cannot be reached: ${reason}`, {
    details: { url, reason, mayHaveArrived, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    cause,
  });

/** The answer from outside is an error, or cannot be understood. */
export const remoteFailed = (
  url: string,
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
): OrreryError =>
  new OrreryError('REMOTE_FAILED', `${url} failed: ${reason}`, { details: { url, reason, ...details } });

/** A firewall keeps an agent's answer in. The caller learns no more than that. */
export const mayNotGoOut = (): OrreryError => refused('What the agent has answered may not go out');

/** The work waits for an answer of its caller. `details` say how to give it. */
export const inputRequired = (
  agentId: string,
  question: string,
  details: Readonly<Record<string, unknown>> = {},
): OrreryError =>
  new OrreryError('INPUT_REQUIRED', `${agentId} asks: ${question}`, {
    details: { agentId, question, ...details },
  });

/** A request from outside is larger than the edge takes. Its size may not be known. */
export const bodyTooLarge = (maxBytes: number): OrreryError =>
  new OrreryError('BODY_TOO_LARGE', `The body of the request is larger than ${maxBytes} bytes`, {
    details: { maxBytes },
  });

/** `what` needs packages that its user installs. The text names those that are missing, and the command. */
export const peersMissing = (what: string, packages: readonly string[]): OrreryError => {
  const [last, ...others] = packages.toReversed();
  const listed =
    others.length === 0 ? `${last}, which is` : `${others.toReversed().join(', ')} and ${last}, which are`;
  return new OrreryError(
    'PEERS_MISSING',
    `${what} needs ${listed} not installed: npm install ${packages.join(' ')}`,
    { details: { what, packages } },
  );
};

/** An authenticated caller may not do this. */
export const notPermitted = (reason: string, details: Readonly<Record<string, unknown>> = {}): OrreryError =>
  new OrreryError('NOT_PERMITTED', reason, { details: { reason, ...details } });
