import { signK1, recoverK1 } from './k1-signature.ts';
import { createHash } from 'node:crypto';

/** A request and the key to sign it. `signingKey` is WIF or `PVT_K1_...`, `atMs` Unix milliseconds. */
export interface RequestSigning extends Omit<SignedParts, 'timestamp'> {
  readonly signingKey: string;
  readonly atMs: number;
}

/** Signs a request; returns the headers that prove its sender. Throws INVALID_OPTIONS for an invalid key. */
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

/** The headers of a signed request. `audience` and `nonce` are Orrery's own; they are signed if present. */
export const XPR_HEADERS = {
  account: 'X-XPR-Account',
  timestamp: 'X-XPR-Timestamp',
  signature: 'X-XPR-Signature',
  audience: 'X-XPR-Audience',
  nonce: 'X-XPR-Nonce',
} as const;

/**
 * The parts of a request that are signed.
 *
 * - `timestamp` Unix seconds, as in the header.
 * - `audience`  the server that it is for. Without it the request could be passed on to another server that trusts the
 *               account.
 * - `nonce`     makes two equal requests in one second different.
 */
interface SignedParts {
  readonly account: string;
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly audience?: string | undefined;
  readonly nonce?: string | undefined;
}

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** The SHA-256 of a request's body, in hexadecimal. */
export const hashBody = (body: string | Uint8Array): string => sha256(body).toString('hex');

/** The digest to sign: SHA-256 of account, timestamp and body hash, one a line, then audience and nonce if present. */
export function digestOf({ body, ...parts }: SignedParts): Uint8Array {
  return digestOfHash({ ...parts, bodyHash: hashBody(body) });
}

/** The digest to sign, by the hash of the body. */
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

// The functions below have the names and parameters of XPR's own software.

/** The digest to sign: SHA-256 of account, timestamp (Unix seconds) and body hash, one a line; in hexadecimal. */
export function createA2ADigest(account: string, timestamp: number, bodyHash: string): string {
  return Buffer.from(digestOfHash({ account, timestamp: String(timestamp), bodyHash })).toString('hex');
}

/**
 * Signs a request with a key as WIF or `PVT_K1_...`; returns `SIG_K1_...`. `timestamp` is in Unix seconds. Throws
 * INVALID_OPTIONS for an invalid key, which the message does not show.
 */
export function signA2ARequest(
  privateKey: string,
  account: string,
  timestamp: number,
  bodyHash: string,
): string {
  return signK1(digestOfHash({ account, timestamp: String(timestamp), bodyHash }), privateKey);
}

/**
 * Recovers the public key, `PUB_K1_...`, that has signed a request; undefined if the signature is invalid. `timestamp` is in
 * Unix seconds.
 */
export function recoverA2APublicKey(
  signature: string,
  account: string,
  timestamp: number,
  bodyHash: string,
): string | undefined {
  return recoverK1(digestOfHash({ account, timestamp: String(timestamp), bodyHash }), signature);
}
