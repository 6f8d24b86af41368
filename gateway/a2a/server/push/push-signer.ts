import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  SignJWT,
} from 'jose';
import { invalidOptions } from '../../../../runtime/protocol/errors.ts';
import { CLAIMS, NOTIFICATION_TYPE, sha256 } from './push-claims.ts';

/** What is signed of a notification, beside its body. `id` is the same at every attempt, `attemptId` never. */
export interface SignedFacts {
  readonly origin: string;
  readonly taskId: string;
  readonly id: string;
  readonly attemptId: string;
  readonly nowMs: number;
}

/** How long a token is valid: longer than a notification takes, plus the difference of clocks. */
const LASTS_S = 300;

const ALGORITHMS = { 'EC P-256': 'ES256', 'OKP Ed25519': 'EdDSA' } as const;
type PushKeyAlgorithm = (typeof ALGORITHMS)[keyof typeof ALGORITHMS];

/** Signs notifications with a key of the gateway's, whose public half receivers are given. */
export class PushSigner {
  readonly #key: CryptoKey | Uint8Array;
  readonly #issuer: string;
  readonly #algorithm: PushKeyAlgorithm;
  readonly #kid: string;
  /** The public half, as `/.well-known/jwks.json` shows it. */
  readonly jwks: JSONWebKeySet;

  private constructor(key: CryptoKey | Uint8Array, publicJwk: JWK, issuer: string) {
    this.#key = key;
    this.#issuer = issuer;
    this.#algorithm = publicJwk.alg as PushKeyAlgorithm;
    this.#kid = publicJwk.kid as string;
    this.jwks = { keys: [publicJwk] };
  }

  /**
   * With a private key of P-256 or Ed25519 as JWK; without one it makes its own, which lasts as long as the process. `issuer`
   * stands in every token. Rejects with INVALID_OPTIONS on any other key.
   */
  static async create({ key, issuer }: { readonly key?: JWK; readonly issuer: string }): Promise<PushSigner> {
    const jwk = key ?? (await newKey());
    const algorithm = ALGORITHMS[`${jwk.kty} ${jwk.crv}` as keyof typeof ALGORITHMS];
    if (algorithm === undefined || jwk.d === undefined)
      throw invalidOptions(
        'push.key',
        `a key ${jwk.kty} ${jwk.crv ?? ''}`,
        'a private JWK of P-256 or Ed25519',
      );
    const { kty, crv, x, y } = jwk;
    const open = { kty, crv, x, ...(y === undefined ? {} : { y }) } as JWK;
    const kid = jwk.kid ?? (await calculateJwkThumbprint(open));
    const imported = await importJWK(jwk, algorithm);
    return new PushSigner(imported, { ...open, kid, alg: algorithm, use: 'sig' }, issuer);
  }

  /** A token that says who sent these bytes where, and when. */
  sign(body: Uint8Array, { origin, taskId, id, attemptId, nowMs }: SignedFacts): Promise<string> {
    const nowS = Math.floor(nowMs / 1_000);
    return new SignJWT({ [CLAIMS.body]: sha256(body), [CLAIMS.task]: taskId, [CLAIMS.notification]: id })
      .setProtectedHeader({ alg: this.#algorithm, kid: this.#kid, typ: NOTIFICATION_TYPE })
      .setIssuer(this.#issuer)
      .setAudience(origin)
      .setIssuedAt(nowS)
      .setExpirationTime(nowS + LASTS_S)
      .setJti(attemptId)
      .sign(this.#key);
  }
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return exportJWK(privateKey);
}
