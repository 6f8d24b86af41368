/** Why a request failed without an answer of the agent. */
export type ClientFault =
  | 'TIMEOUT'
  | 'NETWORK'
  | 'HTTP'
  | 'REDIRECT'
  | 'TOO_LARGE'
  | 'INVALID_ANSWER'
  | 'CANCELLED';

/** The code of XPR's protocol for errors of the server, and of this client. */
export const SERVER_ERROR = -32_000;

/**
 * The error of a request to an XPR agent.
 *
 * - `code` of JSON-RPC: the agent's, or -32000 if the agent gave no answer.
 * - `data` the agent's; or `{reason}`, a `ClientFault`, if it gave no answer.
 */
export class A2AError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, code: number, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.name = 'A2AError';
    this.code = code;
    this.data = data;
  }
}

/** Makes the error of a request without an answer. `facts` are added to `data`. */
export const clientError = (
  reason: ClientFault,
  sentence: string,
  { cause, ...facts }: { readonly cause?: unknown; readonly [fact: string]: unknown } = {},
): A2AError =>
  new A2AError(sentence, SERVER_ERROR, { reason, ...facts }, cause === undefined ? {} : { cause });
