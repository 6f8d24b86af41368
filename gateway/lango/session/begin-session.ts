import { reasonOf } from '../../../runtime/protocol/errors.ts';
import type { Clock, NewSecret } from '../../../runtime/protocol/seams.ts';
import { type ByteStream, inTime, type LangoPeer, sendAndClose } from '../wire/byte-stream.ts';
import { randomFrom } from '../wire/random.ts';
import { leave, readDocument } from '../wire/read-document.ts';
import { isSignedByDid } from './did-key.ts';
import {
  checkAnswer,
  decodeAnswer,
  encodeChallenge,
  type LangoIdentity,
  NONCE_BYTES,
  secondsOf,
  signedBytes,
  type VerifySignature,
} from './handshake.ts';

const MAX_BYTES = 8_192;

/**
 * - `identity`  who we are.
 * - `peer`      who is at the other end of the stream, as the transport has proved it.
 * - `verify`    @default the key of a `did:key`
 * - `timeoutMs` @default 30 seconds
 */
export interface BeginSessionOptions {
  readonly identity: LangoIdentity;
  readonly peer: LangoPeer;
  readonly verify?: VerifySignature;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A session that we have with a peer, Unix milliseconds. */
export interface GivenSession {
  readonly token: string;
  readonly expiresAtMs: number;
}

/**
 * Proves our DID to a peer, over a stream of `HANDSHAKE_PROTOCOL`, and gets a token for its streams of `LANGO_PROTOCOL`.
 *
 * Rejects with UNAUTHENTICATED if the peer refuses, with REMOTE_FAILED if its answer is not its own, with REFUSED if it is none,
 * and with DEADLINE_EXCEEDED or CANCELLED.
 */
export async function beginSession(
  stream: ByteStream,
  { identity, peer, verify = isSignedByDid, timeoutMs = 30_000, signal }: BeginSessionOptions,
  { clock, newSecret }: { readonly clock: Pick<Clock, 'now' | 'setTimer'>; readonly newSecret: NewSecret },
): Promise<GivenSession> {
  const limit = { what: `The handshake with ${peer.id}`, ms: timeoutMs, signal };
  try {
    return await inTime(clock, limit, async (ended) => {
      const nonce = randomFrom(newSecret, NONCE_BYTES);
      const timestamp = secondsOf(clock.now());
      const signature = await identity.sign(signedBytes(nonce, timestamp, identity.did));
      const challenge = { nonce, timestamp, senderDid: identity.did, signature };
      await sendAndClose(stream, encodeChallenge(challenge), ended);
      const chunks = stream[Symbol.asyncIterator]();
      const answer = decodeAnswer(await readDocument(chunks, { maxBytes: MAX_BYTES, signal: ended }));
      await checkAnswer(answer, { challenge, peerDid: peer.did, nowMs: clock.now(), verify });
      void leave(stream, chunks, clock);
      return { token: answer.token, expiresAtMs: answer.expiresAtMs };
    });
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error(reasonOf(error)));
    throw error;
  }
}
