import { signK1, recoverK1 } from './k1-signature.ts';
import { createHash } from 'node:crypto';

/** What a request is signed with: `signingKey` as WIF or `PVT_K1_...`, `atMs` Unix milliseconds. */
export interface RequestSigning extends Omit<SignedParts, 'timestamp'> {
  readonly signingKey: string;
  readonly atMs: number;
}

/** The headers that prove who sends this body. Throws INVALID_OPTIONS for a key that is none. */
export function signRequest({ signingKey, atMs, ...parts }: RequestSigning): Record<string, string> {
  const { account, audience, nonce } = parts;
  const timestamp = String(Math.floor(atMs / 1_000));
  return {
    [XPR_HEADERS.account]: account,
    [XPR_HEADERS.timestamp]: timestamp,
    [XPR_HEADERS.signature]: signK1(digestOf({ ...parts, timestamp }), signingKey),
    ...(audience === undefined ? {} : { [XPR_HEADERS.audience]: audience }),
    ...(nonce === undefined ? {} : { [XPR_HEADERS.nonce]: nonce }),
  };
}

/** The headers of a signed request; the last two are ours, and signed when they are there. */
export const XPR_HEADERS = {
  account: 'X-XPR-Account',
  timestamp: 'X-XPR-Timestamp',
  signature: 'X-XPR-Signature',
  audience: 'X-XPR-Audience',
  nonce: 'X-XPR-Nonce',
} as const;

/**
 * What is signed of a request.
 *
 * - `timestamp` Unix seconds, as it stands in the header.
 * - `audience`  whom it is for: without one it can be passed on to another server that trusts the account.
 * - `nonce`     makes two like requests in one second different.
 */
interface SignedParts {
  readonly account: string;
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly audience?: string | undefined;
  readonly nonce?: string | undefined;
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** The SHA-256 of a request's body, in hexadecimal digits. */
export const hashBody = (body: string | Uint8Array): string => sha256(body).toString('hex');

/** Account, timestamp and the hash of the body, a line each; then what of ours is there; and the SHA-256 of it all. */
export function digestOf({ body, ...parts }: SignedParts): Uint8Array {
  return digestOfHash({ ...parts, bodyHash: hashBody(body) });
}

/** The same where the body's hash is known. */
export function digestOfHash({
  account,
  timestamp,
  bodyHash,
  audience,
  nonce,
}: Omit<SignedParts, 'body'> & { readonly bodyHash: string }): Uint8Array {
  const lines = [account, timestamp, bodyHash];
  if (audience !== undefined) lines.push(`audience ${audience}`);
  if (nonce !== undefined) lines.push(`nonce ${nonce}`);
  return sha256(lines.join('\n'));
}

// The same steps under the names, and with the parameters, that XPR's own software has for them.

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
