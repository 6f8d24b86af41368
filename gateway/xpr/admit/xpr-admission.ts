import { z } from 'zod';
import type { Authenticator, EdgeRequest, RequestMemory } from '../../../runtime/protocol/admission.ts';
import { invalidOptions, isOrreryError, OrreryError } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { trustScore } from '../chain/trust.ts';
import type { XprAccounts, XprAgent } from '../chain/xpr-accounts.ts';
import { admit } from '../../admit/admit.ts';
import { slidingWindow } from '../../admit/sliding-window.ts';
import { TtlCache } from '../../admit/ttl-cache.ts';
import { type TrustGateOptions, trustGate } from './trust-gate.ts';
import { type XprSignatureOptions, xprSignature } from './xpr-signature.ts';

/**
 * - `signature`         of requests: window, audience, caches; or what `xprSignature` has made, where other protocols have it too:
 *                       then a request that one of them has let in is let in by no other.
 * - `authRequired`      whether a request must prove who sends it. @default true
 * - `requestsPerMinute` of one account; all who are anonymous share one bucket. @default 20
 * - `trust`             how far an account must be trusted.
 * - `authenticators`    other ways to prove who one is, asked after the signature. @default none
 */
export interface XprAdmissionOptions {
  readonly signature?: XprSignatureOptions | Authenticator;
  readonly authRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly trust?: TrustGateOptions;
  readonly authenticators?: readonly Authenticator[];
}

/** `seen`: which requests the gateways of the system have let in. @default the signature's own memory */
export interface XprAdmissionDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly accounts: XprAccounts;
  readonly seen?: RequestMemory;
}

/** A gate that is misspelt would stand open; what the others hold is looked at where it is used. */
const Names = z.strictObject({
  signature: z.unknown().optional(),
  authRequired: z.boolean().optional(),
  requestsPerMinute: z.unknown().optional(),
  trust: z.unknown().optional(),
  authenticators: z.unknown().optional(),
});

/** Five minutes. */
const TRUST_TTL_MS = 300_000;
const PREFIX = 'xpr:';
const ADMISSION_CODES: readonly string[] = [
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'NOT_PERMITTED',
  'STORE_FAILED',
];
/** When it may be worth asking again, where the chain did not answer. */
const RETRY_MS = 5_000;

/**
 * Who may come in by the XPR binding: signed by an account's active key, within its rate, registered and trusted, in this
 * order (X-09..X-23, C-08).
 *
 * What it returns rejects with UNAUTHENTICATED, RATE_LIMITED and NOT_PERMITTED; with the latter, `retryAfterMs` in the
 * details, when the chain cannot be asked; with STORE_FAILED while the journal cannot keep that a request was let in. Throws INVALID_OPTIONS naming the field.
 */
export function xprAdmission(
  given: XprAdmissionOptions,
  { clock, accounts, seen }: XprAdmissionDeps,
): (request: EdgeRequest) => Promise<Principal> {
  parseOptions(Names, given, 'admission');
  const { signature = {}, authRequired = true, requestsPerMinute, trust = {}, authenticators = [] } = given;
  const signed = 'authenticate' in signature ? signature : xprSignature(signature, { clock, accounts });
  const { ttlMs = TRUST_TTL_MS, ...asked } = trust;
  if (!(ttlMs > 0)) throw invalidOptions('trust.ttlMs', ttlMs, 'a number of milliseconds above 0');
  const agents = new TtlCache(clock, { ttlMs, capacity: 10_000 }, (account) => accounts.agent(account));
  const options = {
    authenticators: [signed, ...authenticators],
    anonymous: !authRequired,
    ...(seen === undefined ? {} : { seen }),
    rules: [
      slidingWindow(requestsPerMinute === undefined ? {} : { requests: requestsPerMinute }, { clock }),
      // What is known is believed here, not there as well.
      trustGate({ ...asked, ttlMs: 1 }, { clock, accounts: { agent: (account) => agents.get(account) } }),
    ],
  };
  return async (request) => {
    try {
      return await withTrust(await admit(request, options), agents, clock.now());
    } catch (error) {
      if (isOrreryError(error) && ADMISSION_CODES.includes(error.code)) throw error;
      const reason = 'who sends the request cannot be found out at the moment';
      throw new OrreryError('NOT_PERMITTED', reason, {
        details: { reason, rule: 'chain', retryAfterMs: RETRY_MS },
        cause: error,
      });
    }
  };
}

/** An account's principal with its score, 0 to 1 (C-23): the gate has just asked for the same. */
async function withTrust(
  principal: Principal,
  agents: TtlCache<XprAgent | undefined>,
  nowMs: number,
): Promise<Principal> {
  if (!principal.id.startsWith(PREFIX)) return principal;
  const agent = await agents.get(principal.id.slice(PREFIX.length));
  if (agent === undefined) return principal;
  return { ...principal, trust: { score: trustScore(agent, nowMs) / 100, source: 'xpr' } };
}
