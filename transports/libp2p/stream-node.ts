import { multiaddr } from '@multiformats/multiaddr';
import { reasonOf } from '../../runtime/protocol/errors.ts';
import { unreachable } from '../../runtime/protocol/transport.ts';
import { peerIn } from './libp2p-address.ts';

/** A peer id of libp2p; `publicKey` is in it, unless it is too long for that. */
interface NodePeerId {
  toString(): string;
  readonly publicKey?: { readonly type: string; readonly raw: Uint8Array } | undefined;
}

interface NodeConnection<Stream> {
  readonly remotePeer: NodePeerId;
  newStream(protocol: string, options: NodeStreamOptions): Promise<Stream>;
}

interface NodeStreamOptions {
  readonly signal?: AbortSignal;
  readonly runOnLimitedConnection: boolean;
}

/** What is used of a node of libp2p 3. */
export interface Libp2pNode<Stream> {
  readonly peerId: NodePeerId;
  getMultiaddrs(): readonly { toString(): string }[];
  dial(address: never, options: { readonly signal?: AbortSignal }): Promise<NodeConnection<Stream>>;
  handle(
    protocol: string,
    handler: (stream: Stream, connection: { readonly remotePeer: NodePeerId }) => void,
    options: NodeStreamOptions,
  ): Promise<void>;
  unhandle(protocol: string): Promise<void>;
  stop(): Promise<void> | void;
}

interface AbortableStream {
  abort(error: Error): void;
}

/** Whose stream it is, as the connection has proved it: the peer id, and the raw Ed25519 key. */
export interface StreamPeer {
  readonly id: string;
  readonly publicKey: Uint8Array;
}

/** Streams of a node of libp2p, each of a protocol that somebody else speaks. Peers without an Ed25519 key have none. */
export class StreamNode<Stream extends AbortableStream> {
  readonly #node: Libp2pNode<Stream>;

  constructor(node: Libp2pNode<Stream>) {
    this.#node = node;
  }

  /** The node itself: its peer id, and its raw Ed25519 key. */
  get self(): { readonly id: string; readonly publicKey: Uint8Array | undefined } {
    const { peerId } = this.#node;
    return { id: peerId.toString(), publicKey: ed25519Of(peerId) };
  }

  /** Multiaddrs with the peer id, at which others find it. */
  get addresses(): readonly string[] {
    return this.#node.getMultiaddrs().map(String);
  }

  /** Calls `handler` with each stream that others open. */
  async handle(protocol: string, handler: (stream: Stream, peer: StreamPeer) => void): Promise<void> {
    await this.#node.handle(
      protocol,
      (stream, { remotePeer }) => {
        const publicKey = ed25519Of(remotePeer);
        if (publicKey === undefined) stream.abort(new Error('A peer needs an Ed25519 key'));
        else handler(stream, { id: remotePeer.toString(), publicKey });
      },
      { runOnLimitedConnection: true },
    );
  }

  unhandle(protocol: string): Promise<void> {
    return this.#node.unhandle(protocol);
  }

  /** Opens a stream to the peer at a multiaddr with `/p2p/`. Rejects with DELIVERY_FAILED, and as libp2p does. */
  async open(
    address: string,
    protocol: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<{ readonly stream: Stream; readonly peer: StreamPeer }> {
    const connection = await this.#node.dial(targetOf(address) as never, { signal });
    const { remotePeer } = connection;
    const publicKey = ed25519Of(remotePeer);
    if (publicKey === undefined) throw unreachable(address, 'it has no Ed25519 key');
    const stream = await connection.newStream(protocol, { signal, runOnLimitedConnection: true });
    return { stream, peer: { id: remotePeer.toString(), publicKey } };
  }

  async stop(): Promise<void> {
    await this.#node.stop();
  }
}

const ed25519Of = ({ publicKey }: NodePeerId): Uint8Array | undefined =>
  publicKey?.type === 'Ed25519' ? publicKey.raw : undefined;

/** Without a peer id nobody would be known to be at the other end. */
function targetOf(address: string) {
  let reason = 'it has no /p2p/ with a peer id';
  try {
    const parsed = multiaddr(address);
    if (peerIn(parsed) !== undefined) return parsed;
  } catch (error) {
    reason = reasonOf(error);
  }
  throw unreachable(address, reason);
}
