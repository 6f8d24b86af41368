import { secp256k1 } from '@noble/curves/secp256k1.js';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { privateKeyOf, publicKeyText, signatureOf, signatureText } from './k1-text.ts';

/** What is added to the recovery id in a signature: 27, and 4 because the key is compressed. */
const HEADER = 31;

/**
 * Signs a digest of 32 bytes, which is not hashed again, with a private key as WIF or `PVT_K1_...`. The signature is one that
 * chains take as canonical. Throws INVALID_OPTIONS unless it is such a key; the message does not show it.
 */
export function signK1(digest: Uint8Array, privateKey: string): string {
  const key = privateKeyOf(privateKey);
  if (key === undefined || !secp256k1.utils.isValidSecretKey(key))
    throw invalidOptions('signingKey', 'a text', 'a private key as WIF or PVT_K1_...');
  for (let attempt = 0; ; attempt++) {
    const extraEntropy = attempt === 0 ? false : entropyOf(attempt);
    const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered', extraEntropy });
    if (!isCanonical(signature)) continue;
    signature[0] = (signature[0] as number) + HEADER;
    return signatureText(signature);
  }
}

/** The public key, `PUB_K1_...`, whose owner has signed this digest; undefined when the signature is none of anybody. */
export function recoverK1(digest: Uint8Array, signature: string): string | undefined {
  const bytes = signatureOf(signature);
  const header = bytes?.[0];
  if (bytes === undefined || header === undefined || header < HEADER || header > HEADER + 3) return undefined;
  bytes[0] = header - HEADER;
  try {
    return publicKeyText(secp256k1.recoverPublicKey(bytes, digest, { prehash: false }));
  } catch {
    return undefined;
  }
}

/** The public key, `PUB_K1_...`, of a private one. Throws INVALID_OPTIONS. */
export function publicKeyOfPrivate(privateKey: string): string {
  const key = privateKeyOf(privateKey);
  if (key === undefined || !secp256k1.utils.isValidSecretKey(key))
    throw invalidOptions('signingKey', 'a text', 'a private key as WIF or PVT_K1_...');
  return publicKeyText(secp256k1.getPublicKey(key, true));
}

/** Neither r nor s, from byte 1 and 33 on, is written with its first bit set or with a byte more than it needs. */
function isCanonical(signature: Uint8Array): boolean {
  return [1, 33].every((at) => {
    const [first = 0, second = 0] = signature.subarray(at, at + 2);
    return first < 0x80 && (first !== 0 || second >= 0x80);
  });
}

/** Another deterministic signature for every attempt. */
function entropyOf(attempt: number): Uint8Array {
  const entropy = new Uint8Array(32);
  new DataView(entropy.buffer).setUint32(28, attempt);
  return entropy;
}
