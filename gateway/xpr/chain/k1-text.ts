import { createHash } from 'node:crypto';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { base58 } from '@scure/base';

/** Bytes of the checksum in Antelope's texts for keys and signatures: base58 with a checksum, after a prefix for the kind. */

const CHECKSUM_BYTES = 4;
const SUFFIX = new TextEncoder().encode('K1');
const LEGACY_PUBLIC = 'EOS';
const WIF_VERSION = 0x80;

/** Writes a compressed public key of 33 bytes as `PUB_K1_...`. */
export const publicKeyText = (bytes: Uint8Array): string => `PUB_K1_${withChecksum(bytes, SUFFIX)}`;

/** Writes a signature as `SIG_K1_...`: 65 bytes, which are 31 plus the recovery id, then r and s. */
export const signatureText = (bytes: Uint8Array): string => `SIG_K1_${withChecksum(bytes, SUFFIX)}`;

/** Reads a compressed public key from `PUB_K1_...` or the older `EOS...`; undefined for any other text. */
export function publicKeyOf(text: string): Uint8Array | undefined {
  if (text.startsWith('PUB_K1_')) return checked(text.slice(7), SUFFIX, 33);
  return text.startsWith(LEGACY_PUBLIC) ? checked(text.slice(3), new Uint8Array(), 33) : undefined;
}

/** Reads the 65 bytes of `SIG_K1_...`; undefined for any other text. */
export const signatureOf = (text: string): Uint8Array | undefined =>
  text.startsWith('SIG_K1_') ? checked(text.slice(7), SUFFIX, 65) : undefined;

/** Reads a private key of 32 bytes from `PVT_K1_...` or WIF (wallet import format); undefined for any other text. */
export function privateKeyOf(text: string): Uint8Array | undefined {
  if (text.startsWith('PVT_K1_')) return checked(text.slice(7), SUFFIX, 32);
  const bytes = decoded(text);
  if (bytes === undefined || bytes.length !== 1 + 32 + CHECKSUM_BYTES || bytes[0] !== WIF_VERSION)
    return undefined;
  const body = bytes.subarray(0, 33);
  return isEqual(sha256(sha256(body)), bytes.subarray(33)) ? body.slice(1) : undefined;
}

function withChecksum(bytes: Uint8Array, suffix: Uint8Array): string {
  return base58.encode(joined(bytes, checksumOf(bytes, suffix)));
}

function checked(text: string, suffix: Uint8Array, length: number): Uint8Array | undefined {
  const bytes = decoded(text);
  if (bytes?.length !== length + CHECKSUM_BYTES) return undefined;
  const body = bytes.subarray(0, length);
  return isEqual(checksumOf(body, suffix), bytes.subarray(length)) ? body.slice() : undefined;
}

/**
 * Decodes base58. Texts far longer than any of these are refused first, because decoding takes the square of their length.
 */
function decoded(text: string): Uint8Array | undefined {
  if (text.length > 128) return undefined;
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
}

const checksumOf = (bytes: Uint8Array, suffix: Uint8Array): Uint8Array =>
  ripemd160(joined(bytes, suffix)).subarray(0, CHECKSUM_BYTES);

/** Whether a digest begins with a checksum. */
const isEqual = (digest: Uint8Array, checksum: Uint8Array): boolean =>
  checksum.every((byte, at) => byte === digest[at]);

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
