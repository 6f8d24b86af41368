import { createHash } from 'node:crypto';
import { ed25519, ristretto255 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';

/*
 * A Schnorr proof of knowledge of a discrete logarithm over ristretto255 (RFC 9496), made non-interactive by Fiat and Shamir.
 * The secret is the scalar of an Ed25519 key, so that the public key in a `did:key` is what a proof is checked against.
 */

const { Point } = ristretto255;
const ORDER = Point.Fn.ORDER;
const DOMAIN = Buffer.from('orrery/attestation/schnorr-ristretto255/1');
const BYTES = 32;

/** `R` and `s`, 32 bytes each. */
export const SCHNORR_BYTES = 2 * BYTES;

export interface SchnorrKey {
  readonly scalar: bigint;
  /** Of the curve point, as ristretto255 encodes it. */
  readonly publicKey: Uint8Array;
}

/** The key for proofs of an Ed25519 secret key, 32 bytes. */
export function schnorrKey(secretKey: Uint8Array): SchnorrKey {
  const { scalar, point } = ed25519.utils.getExtendedPublicKey(secretKey);
  return { scalar, publicKey: new Point(point).toBytes() };
}

/** The ristretto255 key that belongs to an Ed25519 public key; undefined if that is none, or one that anybody could use. */
export function schnorrPublicKey(ed25519Key: Uint8Array): Uint8Array | undefined {
  try {
    const point = ed25519.Point.fromBytes(ed25519Key);
    return point.isSmallOrder() ? undefined : new Point(point).toBytes();
  } catch {
    return undefined;
  }
}

/** Proves knowledge of the key's scalar, bound to a statement. `random` are 32 bytes that nobody else knows. */
export function proveKnowledge(
  { scalar, publicKey }: SchnorrKey,
  statement: Uint8Array,
  random: Uint8Array,
): Uint8Array {
  // Hedged: bad randomness alone does not give the secret away.
  const nonce = scalarOf('nonce', numberToBytesLE(scalar, BYTES), random, statement) || 1n;
  const commitment = Point.BASE.multiply(nonce).toBytes();
  const challenge = scalarOf('challenge', publicKey, commitment, statement);
  const answer = (nonce + challenge * scalar) % ORDER;
  return Buffer.concat([commitment, numberToBytesLE(answer, BYTES)]);
}

/** Whether it proves that somebody who knew the secret of this key has made it for this statement. */
export function isKnowledge(publicKey: Uint8Array, statement: Uint8Array, proof: Uint8Array): boolean {
  if (proof.length !== SCHNORR_BYTES) return false;
  try {
    const commitment = proof.subarray(0, BYTES);
    const answer = bytesToNumberLE(proof.subarray(BYTES));
    const key = Point.fromBytes(publicKey);
    // A larger number would make a second proof of the first.
    if (answer >= ORDER || key.is0()) return false;
    const challenge = scalarOf('challenge', publicKey, commitment, statement);
    const expected = Point.fromBytes(commitment).add(key.multiplyUnsafe(challenge));
    return Point.BASE.multiplyUnsafe(answer).equals(expected);
  } catch {
    return false;
  }
}

/** SHA-512 of the parts, each with its length before it, as a scalar. */
function scalarOf(use: string, ...parts: readonly Uint8Array[]): bigint {
  const hash = createHash('sha512');
  for (const part of [DOMAIN, Buffer.from(use), ...parts]) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hash.update(length).update(part);
  }
  return bytesToNumberLE(hash.digest()) % ORDER;
}
