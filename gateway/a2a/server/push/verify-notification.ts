import { timingSafeEqual } from 'node:crypto';
import type { errors, JWTPayload, JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { unauthenticated } from '../../../../runtime/protocol/edge-errors.ts';
import { PACKAGES_FOR, requirePackages } from '../../../../runtime/protocol/optional-packages.ts';
import { parseShallowJson } from '../../../../runtime/protocol/json.ts';
import { hasMethod, parseOptions } from '../../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../../runtime/protocol/seams.ts';
import { systemClock } from '../../../../runtime/protocol/system-seams.ts';
import type { JsonWebKeySet } from '../../wire/card-key.ts';
import { CLAIMS, NOTIFICATION_TYPE, SIGNATURE_HEADER, sha256, TOKEN_HEADER } from './push-claims.ts';

/** A notification as it came. `body`: the very bytes, before anybody parsed them. */
export interface ReceivedNotification {
  readonly headers: Pick<Headers, 'get'>;
  readonly body: Uint8Array;
}

/**
 * - `jwks`     the sender's public keys, or where they are: its `/.well-known/jwks.json`.
 * - `audience` the receiver's own origin, as it stands in the URL that it gave: `https://receiver.example`.
 * - `issuer`   who must have sent it. @default anybody with these keys
 * - `token`    that the receiver gave with the URL. @default none is asked for
 * - `seen`     notices what comes a second time. @default a replay is found only when it is too old
 * - `maxAgeMs` how old it may be. @default five minutes
 * - `leewayMs` by how much clocks may differ. @default 5,000
 */
export interface VerifyNotificationOptions {
  readonly jwks: JsonWebKeySet | URL;
  readonly audience: string;
  readonly issuer?: string;
  readonly token?: string;
  readonly seen?: SeenNotifications;
  readonly maxAgeMs?: number;
  readonly leewayMs?: number;
  readonly clock?: Pick<Clock, 'now'>;
}

const KeySet = z.custom<JsonWebKeySet>((value) => Array.isArray((value as JsonWebKeySet | undefined)?.keys));
/** Checked at each call: one that is misspelt would leave a check out. */
const Options = z.strictObject({
  jwks: z.union([z.instanceof(URL), KeySet], 'a key set, or the URL of one'),
  audience: z.string().min(1),
  issuer: z.string().min(1).optional(),
  token: z.string().min(1).optional(),
  seen: z.custom<SeenNotifications>(hasMethod('isNew'), 'a SeenNotifications').optional(),
  maxAgeMs: z.number().positive().optional(),
  leewayMs: z.number().nonnegative().optional(),
  clock: z.custom<Pick<Clock, 'now'>>(hasMethod('now'), 'a clock').optional(),
});
const Received = z.object({
  headers: z.custom<ReceivedNotification['headers']>(hasMethod('get'), 'headers, as those of a Request'),
  body: z.instanceof(Uint8Array),
});

/**
 * A notification that is what its sender sent.
 *
 * - `notificationId` the same however often it is sent: who has handled it does nothing about the next one.
 * - `news`           what the body says, in the dialect in which the receiver asked for it.
 */
export interface VerifiedNotification {
  readonly taskId: string;
  readonly notificationId: string;
  readonly issuer: string;
  readonly news: unknown;
}

const MAX_AGE_MS = 300_000;
const LEEWAY_MS = 5_000;

/**
 * Finds out whether a notification comes from whom it says, unchanged, to this receiver, now, and for the first time. An
 * attempt that is made again, because the answer to the one before was lost, is none of those that `seen` refuses.
 *
 * Rejects with UNAUTHENTICATED, with INVALID_OPTIONS naming field and value, and with what keeps it from getting the keys.
 */
export async function verifyNotification(
  received: ReceivedNotification,
  options: VerifyNotificationOptions,
): Promise<VerifiedNotification> {
  const { headers, body } = parseOptions(Received, received, 'notification');
  parseOptions(Options, options, 'verifyNotification');
  const { token, seen, leewayMs = LEEWAY_MS, maxAgeMs = MAX_AGE_MS, clock = systemClock } = options;
  if (token !== undefined && !isSame(headers.get(TOKEN_HEADER) ?? '', token))
    throw unauthenticated('it does not show the token that its receiver gave');
  const claims = await claimsOf(signatureIn(headers), options);
  if (claims[CLAIMS.body] !== sha256(body)) throw unauthenticated('it is signed for another body');
  const attemptId = claims.jti as string;
  const goneAtMs = (claims.iat as number) * 1_000 + maxAgeMs + leewayMs;
  if (seen?.isNew(attemptId, { goneAtMs, nowMs: clock.now() }) === false)
    throw unauthenticated('it has come before');
  return {
    taskId: textOf(claims, CLAIMS.task),
    notificationId: textOf(claims, CLAIMS.notification),
    issuer: claims.iss as string,
    news: parseShallowJson(new TextDecoder().decode(body)),
  };
}

function signatureIn(headers: Pick<Headers, 'get'>): string {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get('Authorization') ?? '')?.[1];
  const signature = headers.get(SIGNATURE_HEADER) ?? bearer;
  if (signature === undefined) throw unauthenticated('it is not signed');
  return signature;
}

type Jose = typeof import('jose');

/** Loaded when it is wanted: a gateway whose users verify nothing needs no such package. */
function loadJose(): Promise<Jose> {
  requirePackages('verifyNotification()', PACKAGES_FOR.verifiedNotifications);
  return import('jose');
}

async function claimsOf(signature: string, options: VerifyNotificationOptions): Promise<JWTPayload> {
  const { audience, issuer, clock = systemClock } = options;
  const { maxAgeMs = MAX_AGE_MS, leewayMs = LEEWAY_MS } = options;
  const jose = await loadJose();
  try {
    const { payload } = await jose.jwtVerify(signature, keysOf(options.jwks, jose), {
      audience,
      algorithms: ['ES256', 'EdDSA', 'Ed25519'],
      typ: NOTIFICATION_TYPE,
      requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti', ...Object.values(CLAIMS)],
      maxTokenAge: maxAgeMs / 1_000,
      currentDate: new Date(clock.now()),
      clockTolerance: leewayMs / 1_000,
      ...(issuer === undefined ? {} : { issuer }),
    });
    return payload;
  } catch (error) {
    throw isOfSignature(error, jose) ? unauthenticated(error.message) : error;
  }
}

/** Key sets by URL, cached so that not every notification fetches them. */
const remoteKeys = new Map<string, JWTVerifyGetKey>();
const MOST_REMOTE = 100;

function keysOf(jwks: JsonWebKeySet | URL, jose: Jose): JWTVerifyGetKey {
  if (!(jwks instanceof URL)) return jose.createLocalJWKSet(jwks);
  const known = remoteKeys.get(jwks.href);
  if (known !== undefined) return known;
  if (remoteKeys.size >= MOST_REMOTE) remoteKeys.clear();
  const keys = jose.createRemoteJWKSet(jwks);
  remoteKeys.set(jwks.href, keys);
  return keys;
}

/** Whether an error is about the signature, not about fetching the keys. */
const isOfSignature = (error: unknown, { errors }: Jose): error is errors.JOSEError =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC';

function textOf(claims: JWTPayload, name: string): string {
  const value = claims[name];
  if (typeof value !== 'string' || value === '') throw unauthenticated(`its claim ${name} is no text`);
  return value;
}

function isSame(shown: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sha256(Buffer.from(shown))), Buffer.from(sha256(Buffer.from(expected)))];
  return timingSafeEqual(one, other);
}

const SeenOptions = z.strictObject({ most: z.int().positive().default(100_000) });

/** Remembers notifications for as long as they are valid. Beyond `most`, new ones are refused. */
export class SeenNotifications {
  readonly #goneAtMs = new Map<string, number>();
  readonly #most: number;

  constructor(options: { readonly most?: number } = {}) {
    this.#most = parseOptions(SeenOptions, options, 'SeenNotifications').most;
  }

  /** Notes a notification; false if it came before, or there is no room to note it. */
  isNew(id: string, { goneAtMs, nowMs }: { readonly goneAtMs: number; readonly nowMs: number }): boolean {
    if (this.#goneAtMs.has(id)) return false;
    if (this.#goneAtMs.size >= this.#most) this.#forget(nowMs);
    if (this.#goneAtMs.size >= this.#most) return false;
    this.#goneAtMs.set(id, goneAtMs);
    return true;
  }

  #forget(nowMs: number): void {
    for (const [id, atMs] of this.#goneAtMs) if (atMs < nowMs) this.#goneAtMs.delete(id);
  }
}
