import { base58 } from '@scure/base';
import { isSignedBy, publicKeyFrom } from '../../../runtime/protocol/signing.ts';

const PREFIX = 'did:key:z';
/** Multicodec `ed25519-pub`. */
const CODEC = Uint8Array.of(0xed, 0x01);
const KEY_BYTES = 32;
/** Decoding takes time that grows with the square of the length. */
const MAX_LENGTH = 64;

/** The `did:key` of a raw Ed25519 public key, 32 bytes. */
export const didKeyOf = (publicKey: Uint8Array): string =>
  PREFIX + base58.encode(Buffer.concat([CODEC, publicKey]));

/** The raw Ed25519 public key in a `did:key`; undefined for every other DID. */
export function publicKeyOfDid(did: string): Uint8Array | undefined {
  if (!did.startsWith(PREFIX) || did.length > MAX_LENGTH) return undefined;
  try {
    const bytes = base58.decode(did.slice(PREFIX.length));
    const isEd25519 =
      bytes.length === CODEC.length + KEY_BYTES && CODEC.every((byte, at) => bytes[at] === byte);
    return isEd25519 ? bytes.subarray(CODEC.length) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a signature is that of the key in a `did:key`. */
export function isSignedByDid(did: string, bytes: Uint8Array, signature: Uint8Array): boolean {
  const publicKey = publicKeyOfDid(did);
  if (publicKey === undefined) return false;
  try {
    return isSignedBy(publicKeyFrom(Buffer.from(publicKey).toString('base64url')), bytes, signature);
  } catch {
    return false;
  }
}
