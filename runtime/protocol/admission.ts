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
 * One way to prove who stands behind a request.
 *
 * - `scheme`       as it is announced to those who prove nothing (WWW-Authenticate).
 * - `authenticate` resolves to who it is; to undefined when the request has none of these credentials. Rejects with
 *                  UNAUTHENTICATED when it has, and they do not hold, and with what keeps it from finding out.
 */
export interface Authenticator {
  readonly scheme: string;
  authenticate(request: EdgeRequest): Promise<Principal | undefined>;
}

/**
 * Says whether somebody who is known may come in: undefined, or why not. Asked once a request or session, and for
 * each further call of a request that has several.
 */
export interface AdmissionRule {
  readonly name: string;
  admit(principal: Principal, request: EdgeRequest): Promise<Verdict | undefined> | Verdict | undefined;
}
