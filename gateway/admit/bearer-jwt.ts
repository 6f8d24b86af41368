import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { z } from 'zod';
import type { Authenticator, EdgeRequest } from '../../runtime/protocol/admission.ts';
import { AgentTier } from '../../runtime/protocol/agent-card.ts';
import { unauthenticated } from '../../runtime/protocol/edge-errors.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { Principal } from '../../runtime/protocol/principal.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { bearerTokenOf } from './bearer.ts';

/** RFC 7518, 3.2: a key for HS256 has at least 256 bits. */
const SECRET_BYTES = 32;
const SHARED = ['HS256', 'HS384', 'HS512'];
const PUBLIC = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

/**
 * - `issuer`      who must have issued the token (`iss`).
 * - `audience`    for whom it must have been issued (`aud`): this deployment. Without that any token of the issuer would do.
 * - `jwks`        the issuer's public keys (RFC 7517), or where they are fetched from.
 * - `secret`      instead of those: at least 32 bytes that issuer and gateway share.
 * - `tenantClaim` which claim names the tenant. @default 'tenant'
 * - `rolesClaim`  which claim lists roles, as an array or as text with spaces. @default 'roles'
 * - `kind`        what its subjects are. @default 'user'
 * - `tier`        as which the rules judge whoever has such a token. @default 3
 * - `trust`       of whoever has such a token, 0 to 1. @default 1
 * - `leewayMs`    by how much clocks may differ. @default 5,000
 */
const Options = z.strictObject({
  issuer: z.string().min(1),
  audience: z.string().min(1),
  jwks: z.union([z.instanceof(URL), z.looseObject({ keys: z.array(z.looseObject({})) })]).optional(),
  secret: z.instanceof(Uint8Array).optional(),
  tenantClaim: z.string().min(1).default('tenant'),
  rolesClaim: z.string().min(1).default('roles'),
  kind: z.enum(['agent', 'user', 'service']).default('user'),
  tier: AgentTier.default(3),
  trust: z.number().min(0).max(1).default(1),
  leewayMs: z.number().nonnegative().default(5_000),
});
export type BearerJwtOptions = z.input<typeof Options>;

/**
 * Who has a signed JSON Web Token (RFC 7519) of one issuer. Signed otherwise than with the keys that were given, expired,
 * for somebody else, without a subject or an expiry: UNAUTHENTICATED. A bearer token that is no JWT is left to others.
 *
 * Fails with INVALID_OPTIONS.
 */
export function bearerJwt(
  options: BearerJwtOptions,
  { clock }: { clock: Pick<Clock, 'now'> },
): Authenticator {
  const parsed = parseOptions(Options, options, 'bearerJwt');
  const { issuer, audience, leewayMs } = parsed;
  const key = keyOf(parsed);
  return {
    scheme: 'Bearer',
    authenticate: async (request: EdgeRequest) => {
      const token = bearerTokenOf(request);
      if (token === undefined || token.split('.').length !== 3) return undefined;
      const rules = {
        issuer,
        audience,
        algorithms: parsed.secret === undefined ? PUBLIC : SHARED,
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(clock.now()),
        clockTolerance: leewayMs / 1_000,
      };
      try {
        const { payload } = await (typeof key === 'function'
          ? jwtVerify(token, key, rules)
          : jwtVerify(token, key, rules));
        return principalOf(payload, parsed);
      } catch (error) {
        throw isOfToken(error) ? unauthenticated(error.message) : error;
      }
    },
  };
}

function keyOf({ jwks, secret }: z.output<typeof Options>): JWTVerifyGetKey | Uint8Array {
  if ((jwks === undefined) === (secret === undefined))
    throw invalidOptions('bearerJwt.jwks', jwks, 'either jwks or secret');
  if (secret !== undefined) {
    if (secret.length < SECRET_BYTES)
      throw invalidOptions('bearerJwt.secret', `${secret.length} bytes`, `at least ${SECRET_BYTES} bytes`);
    return secret;
  }
  if (jwks instanceof URL) return createRemoteJWKSet(jwks);
  try {
    return createLocalJWKSet(jwks as unknown as JSONWebKeySet);
  } catch {
    throw invalidOptions('bearerJwt.jwks', jwks, 'a JSON Web Key Set');
  }
}

/** Whoever has the token is to blame, not the way to the keys. */
const isOfToken = (error: unknown): error is errors.JOSEError =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC';

function principalOf(payload: JWTPayload, options: z.output<typeof Options>): Principal {
  const { issuer, tenantClaim, rolesClaim, kind, tier, trust } = options;
  const parsed = Principal.safeParse({
    id: `jwt:${issuer}#${payload.sub}`,
    kind,
    tenant: payload[tenantClaim],
    roles: rolesOf(payload[rolesClaim]),
    tier,
    trust: { score: trust, source: issuer },
    expiresAtMs: (payload.exp as number) * 1_000,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unauthenticated(`its claim of ${String(issue?.path[0])} is not valid`);
}

function rolesOf(claim: unknown): unknown {
  if (claim === undefined) return [];
  return typeof claim === 'string' ? claim.split(' ').filter((role) => role !== '') : claim;
}
