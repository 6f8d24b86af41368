import type { Verdict } from './policy.ts';
import type { Principal } from './principal.ts';

/**
 * A request as it arrives at an edge of the system, before anything in it is believed.
 *
 * - `method`  as in HTTP.
 * - `url`     the whole one, as the caller gave it.
 * - `headers` asked without regard to upper and lower case.
 * - `body`    the bytes as they came: signatures are over these.
 * - `address` of the other end of the connection, where it is known: a caller's, or a proxy's.
 */
export interface EdgeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: Uint8Array;
  readonly address?: string | undefined;
}

/**
 * - `untilMs` until when the request could come again, Unix milliseconds; afterwards it is forgotten.
 * - `nowMs`   the time, Unix milliseconds.
 * - `most`    how many are remembered; while there are so many, no other is `new`.
 */
export interface RequestTimes {
  readonly untilMs: number;
  readonly nowMs: number;
  readonly most: number;
}

/** Remembers which requests have been let in: one for all gateways of a system, and in its journal where it has one. */
export interface RequestMemory {
  /**
   * `new`, and from now on it is `seen`; `full`: it cannot be told, because too many are remembered. Resolves when that is
   * kept; rejects with STORE_FAILED while it cannot be, and then the request is still new.
   */
  note(request: string, times: RequestTimes): Promise<'new' | 'seen' | 'full'>;
}

/**
 * One way to prove who stands behind a request.
 *
 * - `scheme`       as it is announced to those who prove nothing (WWW-Authenticate).
 * - `authenticate` resolves to who it is; to undefined when the request has none of these credentials. Rejects with
 *                  UNAUTHENTICATED when it has, and they do not hold, and with what keeps it from finding out. `seen`: which requests
 *                  the gateways of the system have let in; left out where it is asked outside a system.
 */
export interface Authenticator {
  readonly scheme: string;
  authenticate(request: EdgeRequest, seen?: RequestMemory): Promise<Principal | undefined>;
}

/**
 * Says whether somebody who is known may come in: undefined, or why not. Asked once a request or session, and for
 * each further call of a request that has several.
 */
export interface AdmissionRule {
  readonly name: string;
  admit(principal: Principal, request: EdgeRequest): Promise<Verdict | undefined> | Verdict | undefined;
}
