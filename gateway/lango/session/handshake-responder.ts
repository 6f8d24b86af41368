import { z } from 'zod';
import type { RequestMemory } from '../../../runtime/protocol/admission.ts';
import { unauthenticated } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError, reasonOf } from '../../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions, requireFunction, requireMethod } from '../../../runtime/protocol/parse-options.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import type { FirewallEvent } from '../../admit/firewall-guard.ts';
import { SeenRequests } from '../../admit/seen-requests.ts';
import { PeerBuckets } from '../firewall/peer-buckets.ts';
import { StreamService, type Served } from '../server/stream-service.ts';
import type { ByteStream, LangoPeer } from '../wire/byte-stream.ts';
import { isSignedByDid } from './did-key.ts';
import {
  decodeChallenge,
  encodeAnswer,
  encodeRefusal,
  faultOfTime,
  type LangoIdentity,
  secondsOf,
  signedBytes,
  STALE_MS,
  type VerifySignature,
} from './handshake.ts';
import type { SessionStore } from './session-store.ts';

const SECOND_MS = 1_000;
const MAX_PEERS = 1_000;

const Options = z.strictObject({
  timeoutMs: Milliseconds.default(30_000),
  maxBytes: z.int().positive().default(8_192),
  maxStreamsPerPeer: z.int().positive().default(2),
  maxStreams: z.int().positive().default(100),
  perMinute: z.int().positive().default(10),
  maxNonces: z.int().positive().default(100_000),
});

/**
 * - `admits`            whether a peer that has proved its DID gets a session; it may ask a person.
 * - `verify`            @default the key of a `did:key`
 * - `timeoutMs`         for one handshake. @default 30 seconds
 * - `maxBytes`          of a challenge. @default 8,192
 * - `maxStreamsPerPeer` handshakes of one peer at once. @default 2
 * - `maxStreams`        handshakes at once. @default 100
 * - `perMinute`         handshakes of one peer. @default 10
 * - `maxNonces`         how many are remembered, each for five minutes; with so many, nobody is let in. @default 100,000
 */
export type HandshakeResponderOptions = z.input<typeof Options> & {
  readonly identity: LangoIdentity;
  readonly sessions: SessionStore;
  readonly admits: (peer: LangoPeer) => boolean | Promise<boolean>;
  readonly verify?: VerifySignature;
};

/** Begins sessions with peers that prove their DIDs, over streams of `HANDSHAKE_PROTOCOL`. */
export class HandshakeResponder {
  readonly #options: z.output<typeof Options>;
  readonly #given: Required<Pick<HandshakeResponderOptions, 'identity' | 'sessions' | 'admits' | 'verify'>>;
  readonly #clock: Clock;
  readonly #streams: StreamService;
  readonly #nonces: RequestMemory = new SeenRequests();
  readonly #rates: PeerBuckets;
  readonly #tell: (event: FirewallEvent) => void;

  /** `tell` hears of those who get no session. Throws INVALID_OPTIONS. */
  constructor(
    { identity, sessions, admits, verify = isSignedByDid, ...options }: HandshakeResponderOptions,
    {
      clock,
      tell = () => undefined,
    }: { readonly clock: Clock; readonly tell?: (event: FirewallEvent) => void },
  ) {
    requireMethod('HandshakeResponder.identity', identity, 'sign', 'a DID and what signs for it');
    requireMethod('HandshakeResponder.sessions', sessions, 'create', 'a SessionStore');
    requireFunction('HandshakeResponder.admits', admits);
    this.#options = parseOptions(Options, options, 'HandshakeResponder');
    this.#given = { identity, sessions, admits, verify };
    this.#clock = clock;
    this.#rates = new PeerBuckets(clock, MAX_PEERS);
    this.#tell = tell;
    const { timeoutMs, maxBytes, maxStreams, maxStreamsPerPeer } = this.#options;
    const limits = { maxBytes, maxStreams, maxStreamsPerPeer };
    this.#streams = new StreamService(
      { ...limits, readMs: timeoutMs, answerMs: timeoutMs, sendMs: timeoutMs },
      clock,
    );
  }

  /** Answers one handshake. Never rejects. */
  handleStream(stream: ByteStream, peer: LangoPeer): Promise<void> {
    return this.#streams.serve(stream, peer, (document) => this.#answer(document, peer));
  }

  /** Resets the handshakes of a peer. */
  cut(peerDid: string): void {
    this.#streams.cut(peerDid);
  }

  /** Takes no more handshakes; those that are open have `drainMs` to come to their end. */
  close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
    return this.#streams.close({ drainMs });
  }

  async #answer(document: Served, peer: LangoPeer): Promise<Uint8Array> {
    // The operator has heard of this peer often enough.
    if (!this.#rates.take(peer.did, this.#options.perMinute))
      return encodeRefusal(unauthenticated('there were too many handshakes').message);
    try {
      if ('fault' in document) throw unauthenticated('it is no challenge');
      return await this.#begun(document.text, peer);
    } catch (error) {
      // What else is thrown is the host's own, and stays at home.
      const isSaid = isOrreryError(error) && (error.code === 'UNAUTHENTICATED' || error.code === 'REFUSED');
      this.#tell({ kind: 'unauthenticated', peer: peer.did, reason: `no session: ${reasonOf(error)}` });
      return encodeRefusal(isSaid ? error.message : 'The handshake failed');
    }
  }

  async #begun(text: string, peer: LangoPeer): Promise<Uint8Array> {
    const { identity, sessions, admits } = this.#given;
    const { nonce } = await this.#checked(text, peer);
    if (!(await admits(peer))) throw unauthenticated('this peer is not admitted');
    const timestamp = secondsOf(this.#clock.now());
    const signature = await identity.sign(signedBytes(nonce, timestamp, identity.did, peer.did));
    const { session, token } = sessions.create(peer);
    return encodeAnswer({
      nonce,
      timestamp,
      did: identity.did,
      signature,
      token,
      expiresAtMs: session.expiresAtMs,
    });
  }

  async #checked(text: string, peer: LangoPeer): Promise<{ readonly nonce: Uint8Array }> {
    const { nonce, timestamp, senderDid, signature } = decodeChallenge(text);
    // Else whoever is challenged by a peer could pass its challenge on, and get a session in its name.
    if (senderDid !== peer.did) throw unauthenticated('the DID is not that of the peer');
    const nowMs = this.#clock.now();
    const fault = faultOfTime(timestamp, nowMs);
    if (fault !== undefined) throw unauthenticated(`the challenge cannot be taken: ${fault}`);
    if (!(await this.#given.verify(senderDid, signedBytes(nonce, timestamp, senderDid), signature)))
      throw unauthenticated('the signature is not valid');
    const untilMs = timestamp * SECOND_MS + STALE_MS;
    const request = Buffer.from(nonce).toString('base64');
    const noted = await this.#nonces.note(request, { untilMs, nowMs, most: this.#options.maxNonces });
    if (noted === 'seen') throw unauthenticated('the nonce was used before');
    if (noted === 'full') throw unauthenticated('there were too many handshakes');
    return { nonce };
  }
}
