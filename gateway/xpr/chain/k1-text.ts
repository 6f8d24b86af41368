import { createHash } from 'node:crypto';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { base58 } from '@scure/base';

/** The texts of Antelope chains for keys and signatures of secp256k1: base58 with a checksum, and a prefix that names the kind. */

const CHECKSUM_BYTES = 4;
const SUFFIX = new TextEncoder().encode('K1');
const LEGACY_PUBLIC = 'EOS';
const WIF_VERSION = 0x80;

/** `PUB_K1_...` of a compressed public key, 33 bytes. */
export const publicKeyText = (bytes: Uint8Array): string => `PUB_K1_${withChecksum(bytes, SUFFIX)}`;

/** `SIG_K1_...` of 65 bytes: 31 and the recovery id, then r and s. */
export const signatureText = (bytes: Uint8Array): string => `SIG_K1_${withChecksum(bytes, SUFFIX)}`;

/** The compressed public key of `PUB_K1_...` or the older `EOS...`; undefined for what is neither. */
export function publicKeyOf(text: string): Uint8Array | undefined {
  if (text.startsWith('PUB_K1_')) return checked(text.slice(7), SUFFIX, 33);
  return text.startsWith(LEGACY_PUBLIC) ? checked(text.slice(3), new Uint8Array(), 33) : undefined;
}

/** The 65 bytes of `SIG_K1_...`; undefined for what is none. */
export const signatureOf = (text: string): Uint8Array | undefined =>
  text.startsWith('SIG_K1_') ? checked(text.slice(7), SUFFIX, 65) : undefined;

/** The private key of `PVT_K1_...` or of the wallet import format (WIF), 32 bytes; undefined for what is neither. */
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

/** Far longer texts than any of these are not even looked at: decoding takes the square of their length. */
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

/** As long as the checksum is. */
const isEqual = (digest: Uint8Array, checksum: Uint8Array): boolean =>
  checksum.every((byte, at) => byte === digest[at]);

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
