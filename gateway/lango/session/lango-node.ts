import { createPublicKey, type KeyObject } from 'node:crypto';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import type { ZKAttestFunc } from '../../../runtime/protocol/firewall.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import { signBytes } from '../../../runtime/protocol/signing.ts';
import { schnorrAttestation } from '../attest/attestation.ts';
import type { ByteStream, LangoPeer } from '../wire/byte-stream.ts';
import { didKeyOf } from './did-key.ts';
import type { LangoIdentity } from './handshake.ts';

/** Somebody at an end of a stream, by the id and the raw Ed25519 key that the transport has proved. */
export interface KeyedPeer {
  readonly id: string;
  readonly publicKey: Uint8Array;
}

/** What carries streams to peers and from them. */
export interface PeerStreams {
  /** Our end; it may have a key of another kind. */
  readonly self: { readonly id: string; readonly publicKey: Uint8Array | undefined };
  readonly addresses: readonly string[];
  handle(protocol: string, handler: (stream: ByteStream, peer: KeyedPeer) => void): Promise<void>;
  unhandle(protocol: string): Promise<void>;
  open(
    address: string,
    protocol: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly stream: ByteStream; readonly peer: KeyedPeer }>;
  stop(): Promise<void>;
}

/** Our end of all streams of Lango: it has a DID, and signs for it. `serveLango` and `langoAgent` of one program may share it. */
export class LangoNode implements AsyncDisposable {
  /** The `did:key` of the node's Ed25519 key. */
  readonly did: string;
  readonly identity: LangoIdentity;
  readonly seams: Seams;
  readonly #streams: PeerStreams;
  readonly #privateKey: KeyObject;
  readonly #stops: boolean;

  /** `stops`: whether `close` stops what carries the streams. Throws INVALID_OPTIONS if that has another key. */
  constructor(
    streams: PeerStreams,
    {
      privateKey,
      stops,
      seams,
    }: { readonly privateKey: KeyObject; readonly stops: boolean; readonly seams: Seams },
  ) {
    const publicKey = Buffer.from(
      createPublicKey(privateKey).export({ format: 'jwk' }).x as string,
      'base64url',
    );
    const { self } = streams;
    if (self.publicKey === undefined || !publicKey.equals(self.publicKey))
      throw invalidOptions('langoNode.key', self.id, 'the private key of this peer id');
    this.did = didKeyOf(publicKey);
    this.identity = { did: this.did, sign: (bytes) => signBytes(bytes, privateKey) };
    this.seams = seams;
    this.#streams = streams;
    this.#privateKey = privateKey;
    this.#stops = stops;
  }

  get peerId(): string {
    return this.#streams.self.id;
  }

  /** Where others find it: multiaddrs, with its peer id. */
  get addresses(): readonly string[] {
    return this.#streams.addresses;
  }

  /** What proves results in the name of this DID. */
  attestation(): ZKAttestFunc {
    return schnorrAttestation(this.#privateKey, this.seams);
  }

  handle(protocol: string, handler: (stream: ByteStream, peer: LangoPeer) => void): Promise<void> {
    return this.#streams.handle(protocol, (stream, peer) => handler(stream, withDid(peer)));
  }

  unhandle(protocol: string): Promise<void> {
    return this.#streams.unhandle(protocol);
  }

  /** Opens a stream to whoever is at a multiaddr. Rejects if nobody answers there, or another peer does. */
  async open(
    address: string,
    protocol: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly stream: ByteStream; readonly peer: LangoPeer }> {
    const { stream, peer } = await this.#streams.open(address, protocol, options);
    return { stream, peer: withDid(peer) };
  }

  /** Stops the node, unless it is one of yours. */
  async close(): Promise<void> {
    if (this.#stops) await this.#streams.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const withDid = ({ id, publicKey }: KeyedPeer): LangoPeer => ({ id, did: didKeyOf(publicKey) });
