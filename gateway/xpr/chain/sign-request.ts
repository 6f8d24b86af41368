import { digestOf, type SignedParts, XPR_HEADERS } from './digest.ts';
import { signK1 } from './k1-signature.ts';

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
