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

/** SHA-256 of account, timestamp and the SHA-256 of the body in hexadecimal digits, a line each; then what of ours is there. */
export function digestOf({ account, timestamp, body, audience, nonce }: SignedParts): Uint8Array {
  const lines = [account, timestamp, sha256(body).toString('hex')];
  if (audience !== undefined) lines.push(`audience ${audience}`);
  if (nonce !== undefined) lines.push(`nonce ${nonce}`);
  return sha256(lines.join('\n'));
}
