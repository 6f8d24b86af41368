import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { invalidOptions } from '../../runtime/protocol/errors.ts';

/** Where the public keys of a channel's members are kept. Read for every message, so it answers at once. */
export interface MemberKeys {
  get(agentId: string): KeyObject | undefined;
  set(agentId: string, publicKey: KeyObject): void;
  delete(agentId: string): void;
}

/** Keys that last as long as the process. */
export class InMemoryMemberKeys implements MemberKeys {
  readonly #keys = new Map<string, KeyObject>();

  get(agentId: string): KeyObject | undefined {
    return this.#keys.get(agentId);
  }

  set(agentId: string, publicKey: KeyObject): void {
    this.#keys.set(agentId, publicKey);
  }

  delete(agentId: string): void {
    this.#keys.delete(agentId);
  }
}

/** `publicKey` is the raw Ed25519 key, 32 bytes in base64url. A `KeyObject` can be posted to a thread. */
export interface MemberKeyPair {
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** A new Ed25519 key pair (RFC 8032) for one member. */
export function memberKeyPair(): MemberKeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey: publicKey.export({ format: 'jwk' }).x as string, privateKey };
}

/** The key that verifies what its member signed; throws INVALID_OPTIONS unless it is 32 bytes in base64url. */
export function publicKeyFrom(publicKey: string): KeyObject {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  } catch {
    throw invalidOptions('member.publicKey', publicKey, 'a raw Ed25519 public key in base64url');
  }
}

export const signBytes = (bytes: Uint8Array, privateKey: KeyObject): Uint8Array =>
  new Uint8Array(sign(null, bytes, privateKey));

export const isSignedBy = (publicKey: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean =>
  signature.length === 64 && verify(null, bytes, publicKey, signature);
