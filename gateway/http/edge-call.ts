/**
 * What an edge knows of a request before it has read it; a `Request` is one.
 *
 * - `url`     the whole one.
 * - `headers` asked without regard to upper and lower case.
 * - `signal`  aborts when the caller has gone before all of the answer has.
 */
export interface EdgeCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  readonly signal: AbortSignal;
}
