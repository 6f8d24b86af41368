import { createPrivateKey, createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';

/**
 * By what cards are signed.
 *
 * - `key`     a private key as a JWK, with its `kid`, and `alg` where its kind allows more than one.
 * - `jwksUrl` where the public keys can be had, as it stands in the signature. @default nowhere
 */
export interface CardKey {
  readonly key: JsonWebKey;
  readonly jwksUrl?: string;
}

/** Algorithms that a signature may be by, and the kind of key that each is for: all have two keys. */
const KIND_OF_ALGORITHM: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
  EdDSA: 'Ed25519',
  Ed25519: 'Ed25519',
  RS256: 'RSA',
  RS512: 'RSA',
  PS256: 'RSA',
  PS512: 'RSA',
};
export const ALGORITHMS: readonly string[] = Object.keys(KIND_OF_ALGORITHM);

interface ParsedCardKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
}

/** Throws INVALID_OPTIONS naming what the key lacks. */
export function parseCardKey({ key }: CardKey): ParsedCardKey {
  const { kid, kty, crv } = key;
  if (kid === undefined || kid === '') throw invalidOptions('signing.key.kid', kid, 'the name of the key');
  const kind = crv ?? kty;
  const fitting = ALGORITHMS.filter((name) => KIND_OF_ALGORITHM[name] === kind);
  // Of RSA there are several: which one is for whoever made the key to say.
  const alg = key.alg ?? (kind === 'RSA' ? undefined : fitting[0]);
  if (alg === undefined || !fitting.includes(alg))
    throw invalidOptions(
      'signing.key.alg',
      alg,
      `one of ${(fitting.length > 0 ? fitting : ALGORITHMS).join(', ')}`,
    );
  return { kid, alg, privateKey: privateKeyOf(key) };
}

/** The public half, as whoever verifies cards wants it. Throws as `parseCardKey` does. */
export function publicKeysOf(given: CardKey): JsonWebKeySet {
  const { kid, alg, privateKey } = parseCardKey(given);
  const key = createPublicKey(privateKey).export({ format: 'jwk' });
  return { keys: [{ ...key, kid, alg, use: 'sig' }] };
}

function privateKeyOf(key: JsonWebKey): KeyObject {
  try {
    return createPrivateKey({ key, format: 'jwk' });
  } catch (error) {
    // What is wrong with it may say what it is: only that it is no key is told.
    throw invalidOptions('signing.key', (error as Error).name, 'a private key as a JWK');
  }
}

/** A key as JSON (RFC 7517), in the types of Node: whoever gives one needs no package for it. */
export type JsonWebKey = webcrypto.JsonWebKey & {
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
};

/** Keys by their `kid`. */
export interface JsonWebKeySet {
  readonly keys: JsonWebKey[];
}
