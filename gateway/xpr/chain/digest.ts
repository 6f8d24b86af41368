import { createHash } from 'node:crypto';

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
export interface SignedParts {
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
