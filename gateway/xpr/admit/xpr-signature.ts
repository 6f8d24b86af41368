import { z } from 'zod';
import type { Authenticator, EdgeRequest, RequestMemory } from '../../../runtime/protocol/admission.ts';
import { unauthenticated } from '../../../runtime/protocol/edge-errors.ts';
import { OrreryError } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { TtlCache } from '../../admit/ttl-cache.ts';
import { digestOf, XPR_HEADERS } from '../chain/sign-request.ts';
import { publicKeyOf, publicKeyText } from '../chain/k1-text.ts';
import { recoverK1 } from '../chain/k1-signature.ts';
import { SeenRequests } from '../../admit/seen-requests.ts';
import { ACCOUNT_NAME, type XprAccounts } from '../chain/xpr-accounts.ts';

const SECONDS = /^\d{1,12}$/;
const NONCE = /^[\x21-\x7e]{1,128}$/;
const RETRY_MS = 1_000;

const Options = z
  .strictObject({
    audience: z.string().min(1).optional(),
    requiresAudience: z.boolean().default(false),
    windowMs: z.number().positive().default(300_000),
    keysTtlMs: z.number().positive().default(300_000),
    mostSeen: z.int().positive().default(100_000),
  })
  .refine(({ audience, requiresAudience }) => !requiresAudience || audience !== undefined, {
    path: ['audience'],
    message: 'whom requests are for, where they must say so',
  });
/**
 * Options of `xprSignature`.
 *
 * - `audience`         the audience that requests may name, such as this server's URL. @default any
 * - `requiresAudience` whether a request must name its audience. @default false, as in the seed's protocol
 * - `windowMs`         how far a request's timestamp may be from this clock, in both directions. @default 5 minutes
 * - `keysTtlMs`        how long an account's keys are cached. @default 5 minutes
 * - `mostSeen`         requests that are remembered, so that none is accepted twice. @default 100,000
 */
export type XprSignatureOptions = z.input<typeof Options>;

/**
 * An authenticator of requests that are signed with an active key of an XPR account (seed 2, X-09..X-16). What the body says
 * of its sender is ignored.
 *
 * It rejects with UNAUTHENTICATED for wrong headers, a timestamp outside the window, a wrong signature or audience, and a
 * request that was accepted before. It rejects with RATE_LIMITED when no more requests can be remembered, and with
 * STORE_FAILED while the system's journal cannot store the request as seen.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export function xprSignature(
  options: XprSignatureOptions,
  { clock, accounts }: { clock: Pick<Clock, 'now'>; accounts: Pick<XprAccounts, 'activeKeys'> },
): Authenticator {
  const { audience, requiresAudience, windowMs, keysTtlMs, mostSeen } = parseOptions(
    Options,
    options,
    'xprSignature',
  );
  const own = new SeenRequests();
  const keys = new TtlCache(clock, { ttlMs: keysTtlMs, capacity: 10_000 }, async (account) => {
    const active = await accounts.activeKeys(account);
    return new Set(active.map(plainKey));
  });

  /** Says why an audience is refused; undefined if it is accepted. */
  const whyNotForUs = (named: string | undefined): string | undefined => {
    if (named === undefined) return requiresAudience ? 'it does not say whom it is for' : undefined;
    return audience === undefined || named === audience ? undefined : 'it is for somebody else';
  };

  return {
    scheme: 'XPR',
    authenticate: async (request: EdgeRequest, seen?: RequestMemory): Promise<Principal | undefined> => {
      const { account, timestamp, signature, ...ours } = headersOf(request);
      if (account === undefined && timestamp === undefined && signature === undefined) return undefined;
      if (account === undefined || timestamp === undefined || signature === undefined)
        throw unauthenticated(`it lacks ${missing({ account, timestamp, signature })}`);
      if (!ACCOUNT_NAME.test(account)) throw unauthenticated('its account is no name of an account');
      if (!SECONDS.test(timestamp)) throw unauthenticated('its timestamp is not in Unix seconds');
      if (ours.nonce !== undefined && !NONCE.test(ours.nonce))
        throw unauthenticated('its nonce is not 1 to 128 visible characters');
      const [nowMs, atMs] = [clock.now(), Number(timestamp) * 1_000];
      if (Math.abs(nowMs - atMs) > windowMs)
        throw unauthenticated(`its timestamp is more than ${windowMs} ms from the server's time`);
      const other = whyNotForUs(ours.audience);
      if (other !== undefined) throw unauthenticated(other);
      const digest = digestOf({ account, timestamp, body: request.body, ...ours });
      const key = recoverK1(digest, signature);
      if (key === undefined || !(await keys.get(account)).has(key))
        throw unauthenticated('its signature is not of an active key of the account');
      // Remembers the digest, not the signature: anybody can turn a signature into another valid one.
      const once = Buffer.from(digest).toString('base64');
      const times = { untilMs: atMs + windowMs, nowMs, most: mostSeen };
      const ofSystem = (await seen?.note(once, times)) ?? 'new';
      // Its own memory as well, because it may serve several systems.
      const noted = ofSystem === 'new' ? await own.note(once, times) : ofSystem;
      if (noted === 'seen') throw unauthenticated('it has been let in before');
      if (noted === 'full')
        throw new OrreryError(
          'RATE_LIMITED',
          'Too many requests are remembered to tell whether this one is new',
          {
            details: { retryAfterMs: RETRY_MS },
          },
        );
      return {
        id: `xpr:${account}`,
        kind: 'agent',
        roles: [],
        tier: 3,
        trust: { score: 0, source: 'signature' },
      };
    },
  };
}

type Headers = { [Name in keyof typeof XPR_HEADERS]?: string | undefined };

function headersOf({ headers }: EdgeRequest): Headers {
  const named = Object.entries(XPR_HEADERS).map(([name, header]) => [name, headers.get(header) ?? undefined]);
  return Object.fromEntries(named) as Headers;
}

const missing = (parts: Headers): string =>
  (Object.keys(parts) as (keyof Headers)[])
    .filter((name) => parts[name] === undefined)
    .map((name) => XPR_HEADERS[name])
    .join(' and ');

/** The same text for a key in the older and the newer format. */
function plainKey(text: string): string {
  const key = publicKeyOf(text);
  return key === undefined ? text : publicKeyText(key);
}
