import { digestOfHash } from './digest.ts';
import { recoverK1, signK1 } from './k1-signature.ts';

/** The steps of signing a request under the names, and with the parameters, that XPR's own software has for them. */

/** What is signed: SHA-256 of account, timestamp (Unix seconds) and the body's hash, a line each; in hexadecimal digits. */
export function createA2ADigest(account: string, timestamp: number, bodyHash: string): string {
  return Buffer.from(digestOfHash({ account, timestamp: String(timestamp), bodyHash })).toString('hex');
}

/** `SIG_K1_...`, with a key as WIF or `PVT_K1_...`. Throws INVALID_OPTIONS for what is no key; the message does not show it. */
export function signA2ARequest(
  privateKey: string,
  account: string,
  timestamp: number,
  bodyHash: string,
): string {
  return signK1(digestOfHash({ account, timestamp: String(timestamp), bodyHash }), privateKey);
}

/** The public key, `PUB_K1_...`, that has signed this; undefined when the signature is none. */
export function recoverA2APublicKey(
  signature: string,
  account: string,
  timestamp: number,
  bodyHash: string,
): string | undefined {
  return recoverK1(digestOfHash({ account, timestamp: String(timestamp), bodyHash }), signature);
}
