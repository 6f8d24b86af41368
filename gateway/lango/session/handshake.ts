import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { remoteFailed, unauthenticated } from '../../../runtime/protocol/edge-errors.ts';
import { refused } from '../../../runtime/protocol/errors.ts';
import { goStruct, goTime, timeOfGo } from '../wire/go-json.ts';
import { documentOf, parsed } from '../wire/messages.ts';

/**
 * The protocol id of our handshake. It is not one of Lango's own (`/lango/handshake/…`): there the one who asks makes the token
 * and says how long it holds; here the one who is asked does.
 */
export const HANDSHAKE_PROTOCOL = '/orrery/lango-handshake/1.0.0';

export const NONCE_BYTES = 32;
/** A challenge that is older is stale; its nonce is remembered as long. */
export const STALE_MS = 300_000;
const AHEAD_MS = 30_000;
const SECOND_MS = 1_000;

/** Who we are: a DID, and what signs for it. */
export interface LangoIdentity {
  readonly did: string;
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** Whether a signature of these bytes is one of this DID. */
export type VerifySignature = (
  did: string,
  bytes: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

const Bytes = z
  .base64()
  .max(1_024)
  .transform((text): Uint8Array => Buffer.from(text, 'base64'));
const Signed = {
  nonce: Bytes.refine(({ length }) => length === NONCE_BYTES),
  timestamp: z.int().nonnegative(),
  signature: Bytes,
};

/** `timestamp` in Unix seconds; the signature is over nonce, timestamp (8 bytes, big endian) and DID. */
export const Challenge = z.object({ ...Signed, senderDid: z.string().min(1).max(512) });
export type Challenge = z.output<typeof Challenge>;

const Answer = z.object({
  ...Signed,
  did: z.string().min(1).max(512),
  token: z.string().min(1).max(512),
  expiresAt: z.string().max(64),
});
const Refusal = z.object({ error: z.string().min(1).max(1_024) });

/** What the challenged one gives, who signs the nonce, its own timestamp and DID, and the DID of the other. */
export type Answer = Omit<z.output<typeof Answer>, 'expiresAt'> & { readonly expiresAtMs: number };

/** What a signature of a handshake is over: nonce, timestamp as 8 bytes, big endian, and DIDs. */
export function signedBytes(nonce: Uint8Array, timestamp: number, ...dids: readonly string[]): Uint8Array {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(timestamp));
  return Buffer.concat([nonce, time, Buffer.from(dids.join(''))]);
}

export const secondsOf = (atMs: number): number => Math.floor(atMs / SECOND_MS);

/** What is wrong with a timestamp, in Unix seconds, at `nowMs`; undefined if nothing is. */
export function faultOfTime(timestamp: number, nowMs: number): string | undefined {
  const atMs = timestamp * SECOND_MS;
  if (atMs < nowMs - STALE_MS) return 'it is stale';
  return atMs > nowMs + AHEAD_MS ? 'it is from the future' : undefined;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export const encodeChallenge = ({ nonce, timestamp, senderDid, signature }: Challenge): Uint8Array =>
  documentOf(goStruct({ nonce: base64(nonce), timestamp, senderDid, signature: base64(signature) }));

/** Throws REFUSED. */
export const decodeChallenge = (document: string): Challenge => parsed(Challenge, document);

export const encodeAnswer = ({ nonce, timestamp, did, signature, token, expiresAtMs }: Answer): Uint8Array =>
  documentOf(
    goStruct({
      nonce: base64(nonce),
      timestamp,
      did,
      signature: base64(signature),
      token,
      expiresAt: goTime(expiresAtMs),
    }),
  );

export const encodeRefusal = (error: string): Uint8Array => documentOf(goStruct({ error }));

/** Throws REFUSED for what is no answer, and UNAUTHENTICATED for a refusal. */
export function decodeAnswer(document: string): Answer {
  const value = parsed(z.union([Answer, Refusal]), document);
  if ('error' in value) throw unauthenticated(value.error);
  const expiresAtMs = timeOfGo(value.expiresAt);
  if (expiresAtMs === undefined) throw refused('Its expiresAt is no time of RFC 3339');
  const { expiresAt: _, ...others } = value;
  return { ...others, expiresAtMs };
}

/** Checks an answer of `peerDid` to a challenge. Rejects with REMOTE_FAILED saying why it is none. */
export async function checkAnswer(
  answer: Answer,
  { challenge, peerDid, nowMs, verify }: CheckedAgainst,
): Promise<void> {
  const { nonce, timestamp, did, signature } = answer;
  const failed = (reason: string): Error => remoteFailed(peerDid, `its answer to the challenge: ${reason}`);
  if (did !== peerDid) throw failed('it is of another DID');
  if (!timingSafeEqual(nonce, challenge.nonce)) throw failed('it is to another challenge');
  const fault = faultOfTime(timestamp, nowMs);
  if (fault !== undefined) throw failed(fault);
  if (!(await verify(did, signedBytes(nonce, timestamp, did, challenge.senderDid), signature)))
    throw failed('its signature is not valid');
}

export interface CheckedAgainst {
  readonly challenge: Challenge;
  readonly peerDid: string;
  readonly nowMs: number;
  readonly verify: VerifySignature;
}
