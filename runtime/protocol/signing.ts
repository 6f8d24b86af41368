import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import { invalidOptions } from './errors.ts';

/** `publicKey` is the raw Ed25519 key, 32 bytes in base64url. A `KeyObject` can be posted to a thread. */
export interface SigningKeyPair {
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** A new Ed25519 key pair (RFC 8032). */
export function signingKeyPair(): SigningKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey: publicKey.export({ format: 'jwk' }).x as string, privateKey };
}

/** The key object for a public key. Throws INVALID_OPTIONS naming `field` if it is no key. */
export function publicKeyFrom(publicKey: string, field = 'publicKey'): KeyObject {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  } catch {
    throw invalidOptions(field, publicKey, 'a raw Ed25519 public key in base64url');
  }
}

export const signBytes = (bytes: Uint8Array, privateKey: KeyObject): Uint8Array =>
  new Uint8Array(sign(null, bytes, privateKey));

export const isSignedBy = (publicKey: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean =>
  signature.length === 64 && verify(null, bytes, publicKey, signature);

/** An unpredictable challenge that never comes twice: 32 random bytes in base64url. */
export const randomNonce = (): string => randomBytes(32).toString('base64url');
