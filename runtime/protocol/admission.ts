import type { Verdict } from './policy.ts';
import type { Principal } from './principal.ts';

/**
 * A request as it arrives at an edge of the system. Nothing in it is verified yet.
 *
 * - `method`  as in HTTP.
 * - `url`     the whole URL, as the caller gave it.
 * - `headers` looked up without regard to case.
 * - `body`    the bytes as they came: signatures are over these.
 * - `address` of the other end of the connection, if it is known: the caller's, or a proxy's.
 */
export interface EdgeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: Uint8Array;
  readonly address?: string | undefined;
}

/**
 * - `untilMs` until when the request could be replayed, Unix milliseconds. Afterwards it is forgotten.
 * - `nowMs`   the time, Unix milliseconds.
 * - `most`    how many are remembered at most. While there are so many, no other is `new`.
 */
export interface RequestTimes {
  readonly untilMs: number;
  readonly nowMs: number;
  readonly most: number;
}

/** Remembers admitted requests, for all gateways of a system, and in its journal if it has one. */
export interface RequestMemory {
  /**
   * Resolves to `new`, and from then on to `seen`; to `full` if too many requests are remembered to tell. It resolves when that
   * is kept. It rejects with STORE_FAILED if that fails; the request is still new then.
   */
  note(request: string, times: RequestTimes): Promise<'new' | 'seen' | 'full'>;
}

/**
 * One way to prove who stands behind a request.
 *
 * - `scheme`       the name that `WWW-Authenticate` gives to callers without credentials.
 * - `authenticate` resolves to the principal; to undefined if the request has no credentials of this kind. Rejects with
 *                  UNAUTHENTICATED if they are invalid, and with other errors if it could not find out. `seen` remembers the
 *                  requests that the system's gateways have admitted; it is left out outside a system.
 */
export interface Authenticator {
  readonly scheme: string;
  authenticate(request: EdgeRequest, seen?: RequestMemory): Promise<Principal | undefined>;
}

/**
 * Says whether an authenticated caller is admitted: undefined, or the reason why not. It is asked once for each request or
 * session, and for each further call of a request that has several.
 */
export interface AdmissionRule {
  readonly name: string;
  admit(principal: Principal, request: EdgeRequest): Promise<Verdict | undefined> | Verdict | undefined;
}
