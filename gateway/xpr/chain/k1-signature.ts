import { secp256k1 } from '@noble/curves/secp256k1.js';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { privateKeyOf, publicKeyText, signatureOf, signatureText } from './k1-text.ts';

/** Offset of the recovery id in a signature: 27, plus 4 for a compressed key. */
const HEADER = 31;

/**
 * Signs a 32-byte digest, which is not hashed again, with a private key as WIF or `PVT_K1_...`. The signature is canonical,
 * as chains demand. Throws INVALID_OPTIONS for an invalid key, which the message does not show.
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

/** Recovers the public key, `PUB_K1_...`, that has signed a digest; undefined if the signature is invalid. */
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

/** The public key, `PUB_K1_...`, of a private key as WIF or `PVT_K1_...`. Throws INVALID_OPTIONS for an invalid key. */
export function publicKeyOfPrivate(privateKey: string): string {
  const key = privateKeyOf(privateKey);
  if (key === undefined || !secp256k1.utils.isValidSecretKey(key))
    throw invalidOptions('signingKey', 'a text', 'a private key as WIF or PVT_K1_...');
  return publicKeyText(secp256k1.getPublicKey(key, true));
}

/** Whether r and s, from byte 1 and 33 on, have no first bit set and no superfluous leading zero byte. */
function isCanonical(signature: Uint8Array): boolean {
  return [1, 33].every((at) => {
    const [first = 0, second = 0] = signature.subarray(at, at + 2);
    return first < 0x80 && (first !== 0 || second >= 0x80);
  });
}

/** Entropy for another deterministic signature at each attempt. */
function entropyOf(attempt: number): Uint8Array {
  const entropy = new Uint8Array(32);
  new DataView(entropy.buffer).setUint32(28, attempt);
  return entropy;
}
