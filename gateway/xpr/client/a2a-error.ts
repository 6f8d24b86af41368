/** Why a request came to nothing on this side of the wire. */
export type ClientFault =
  | 'TIMEOUT'
  | 'NETWORK'
  | 'HTTP'
  | 'REDIRECT'
  | 'TOO_LARGE'
  | 'INVALID_ANSWER'
  | 'CANCELLED';

/** What XPR's protocol has for everything that is not about one request alone. */
export const SERVER_ERROR = -32_000;

/**
 * A request that an XPR agent has refused, or that did not reach it.
 *
 * - `code` of JSON-RPC: the agent's; -32000 also when there is no answer of it.
 * - `data` what else the agent says; on this side of the wire `{reason}`, a `ClientFault`.
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

/** A request that came to nothing on this side of the wire; `facts` stand beside the reason. */
export const clientError = (
  reason: ClientFault,
  sentence: string,
  { cause, ...facts }: { readonly cause?: unknown; readonly [fact: string]: unknown } = {},
): A2AError =>
  new A2AError(sentence, SERVER_ERROR, { reason, ...facts }, cause === undefined ? {} : { cause });
