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
 * Options of `xprAdmission`.
 *
 * - `signature`         options for checking signatures; or an authenticator of `xprSignature`, to share its memory with
 *                       other protocols, so that a request is admitted by one of them only.
 * - `authRequired`      whether anonymous requests are refused. @default true
 * - `requestsPerMinute` of one account; all anonymous callers share one bucket. @default 20
 * - `trust`             minimum KYC and trust of an account.
 * - `authenticators`    other ways to authenticate, tried after the signature. @default none
 */
export interface XprAdmissionOptions {
  readonly signature?: XprSignatureOptions | Authenticator;
  readonly authRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly trust?: TrustGateOptions;
  readonly authenticators?: readonly Authenticator[];
}

/** `seen`: the requests that the gateways of the system have admitted. @default the signature's own memory */
export interface XprAdmissionDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly accounts: XprAccounts;
  readonly seen?: RequestMemory;
}

/** The names of the options: a misspelt one would leave a check out. Values are parsed where they are used. */
const Names = z.strictObject({
  signature: z.unknown().optional(),
  authRequired: z.boolean().optional(),
  requestsPerMinute: z.unknown().optional(),
  trust: z.unknown().optional(),
  authenticators: z.unknown().optional(),
});

/** How long an account's record is cached. */
const TRUST_TTL_MS = 300_000;
const PREFIX = 'xpr:';
const ADMISSION_CODES: readonly string[] = [
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'NOT_PERMITTED',
  'STORE_FAILED',
];
/** The `retryAfterMs` when the chain did not answer. */
const RETRY_MS = 5_000;

/**
 * Makes the admission of the XPR binding. It checks, in this order: the signature by an active key of the account, the rate,
 * the registration and trust (X-09..X-23, C-08).
 *
 * The returned function rejects with UNAUTHENTICATED, RATE_LIMITED or NOT_PERMITTED. If the chain cannot be asked, that is
 * NOT_PERMITTED with `retryAfterMs` in its details. It rejects with STORE_FAILED while the journal cannot store the request
 * as seen. Throws INVALID_OPTIONS naming the field.
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
      // Records are cached in `agents`, so the gate must not cache them again.
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

/** Adds the trust score, 0 to 1, to an account's principal (C-23). The gate has just cached the record. */
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
