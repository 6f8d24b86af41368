import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import type { Libp2p } from 'libp2p';
import type { z } from 'zod';
import { cancelled, invalidOptions, reasonOf } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import {
  type Listener,
  type TopicTransport,
  type TransportSpec,
  unreachable,
} from '../../runtime/protocol/transport.ts';
import { CHANNEL_PROTOCOL } from '../byte-frames/byte-frame.ts';
import { ByteStreamCarrier } from '../byte-frames/byte-stream-carrier.ts';
import { CarriedConnection } from '../carried-connection.ts';
import { JoinedTopics } from '../topics/joined-topics.ts';
import type { GossipTopic } from './gossip-topic.ts';
import { peerAddress, peerIn } from './libp2p-address.ts';
import { type PeerConnection, type PeerStream, startNode } from './libp2p-node.ts';
import { joinsTopics, Libp2pOptions } from './libp2p-options.ts';
import { isRelayed } from './libp2p-relay.ts';
import { libp2pStream } from './libp2p-stream.ts';

/** Every connection is a stream, and libp2p allows 32 for one peer unless it is told otherwise. */
const MAX_STREAMS = 1_024;
const LOOPBACK = /^\/ip4\/127\.|^\/ip6\/::1\//;

/**
 * Carries frames over libp2p 3: TCP, Noise, Yamux. An address is a multiaddr with `/p2p/` and the peer id of the end that
 * listens there; one of somebody else is refused. `/p2p/` and a peer id alone is one too: libp2p knows the rest, or asks the DHT.
 * All connections to a peer share one of libp2p.
 *
 * Its node keeps the process alive from the first `connect` or `listen` until `close`.
 */
export class Libp2pTransport implements TopicTransport {
  readonly kind = 'libp2p';
  readonly maxFrameBytes: number;
  readonly #options: z.output<typeof Libp2pOptions>;
  readonly #ends = new Set<CarriedConnection>();
  /** How many of them each connection of libp2p carries. */
  readonly #endsOver = new Map<PeerConnection, number>();
  readonly #topics = new JoinedTopics();
  #node: Promise<Libp2p> | undefined;
  #onConnection: ((connection: CarriedConnection) => void) | undefined;

  readonly spec?: TransportSpec;

  /** Fails with INVALID_OPTIONS naming field and value. */
  constructor(options: Libp2pOptions = {}, spec?: TransportSpec) {
    if (spec !== undefined) this.spec = spec;
    this.#options = parseOptions(Libp2pOptions, options, 'libp2p');
    this.maxFrameBytes = this.#options.maxFrameBytes;
  }

  get canJoin(): boolean {
    return joinsTopics(this.#options);
  }

  /** Ends of connections that are open here. */
  get openEnds(): number {
    return this.#ends.size;
  }

  get isListening(): boolean {
    return this.#onConnection !== undefined;
  }

  async connect(
    address: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<CarriedConnection> {
    if (signal?.aborted === true) throw cancelled(`Connecting to "${address}"`);
    const target = multiaddrOf(address);
    const { connectTimeoutMs } = this.#options;
    const attempt = new AbortController();
    let whyStopped: Error | undefined;
    const stop = (why: Error): void => {
      whyStopped ??= why;
      attempt.abort();
    };
    const abort = (): void => stop(cancelled(`Connecting to "${address}"`));
    const stopTimer = systemClock.setTimer(connectTimeoutMs, () =>
      stop(unreachable(address, `it took longer than ${connectTimeoutMs} ms`)),
    );
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const node = await this.#running();
      const connection = await node.dial(target, { signal: attempt.signal });
      const stream = await connection
        .newStream(CHANNEL_PROTOCOL, {
          signal: attempt.signal,
          maxOutboundStreams: MAX_STREAMS,
          runOnLimitedConnection: true,
        })
        .catch((error: unknown) => {
          this.#closeUnused(connection);
          throw error;
        });
      return this.#open(stream, connection);
    } catch (error) {
      this.#topics.forget(peerAddress(peerIn(target) ?? ''));
      throw whyStopped ?? unreachable(address, reasonOf(error), error);
    } finally {
      stopTimer();
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Fails with INVALID_OPTIONS when it cannot listen where the options say, or listens already. */
  async listen(onConnection: (connection: CarriedConnection) => void): Promise<Listener> {
    const { listen } = this.#options;
    if (this.#onConnection !== undefined)
      throw invalidOptions('libp2p.listen', listen, 'addresses at which nobody listens yet');
    this.#onConnection = onConnection;
    try {
      const node = await this.#running();
      const address = addressOf(node, listen);
      if (address === undefined) throw new Error('there is none');
      await node.handle(CHANNEL_PROTOCOL, (stream, peer) => onConnection(this.#open(stream, peer)), {
        maxInboundStreams: MAX_STREAMS,
        maxOutboundStreams: MAX_STREAMS,
        runOnLimitedConnection: true,
      });
      return { address, close: () => this.#stopListening(node, onConnection) };
    } catch (error) {
      this.#onConnection = undefined;
      throw invalidOptions('libp2p.listen', listen, `addresses to listen at (${reasonOf(error)})`);
    }
  }

  /**
   * Whoever leaves, or closes, is found no more; neither is an end that dies, once nobody has a connection to it. Records of it
   * stay in the DHT for 20 minutes: an end that does not gossip is found by them until it cannot be reached. A libp2p node that
   * provides the CID, or subscribes to the gossip, of docs/internals/channels.md finds this end and is found.
   *
   * Needs `topics`. `bootstrap`, or `mdns` in one network, leads to others.
   */
  async join(topic: string, onFound: (address: string) => void): Promise<GossipTopic> {
    if (!this.canJoin) throw invalidOptions('libp2p.topics', this.#options.topics, 'true, to join topics');
    return this.#topics.join(topic, this.isListening, async (onLeft) => {
      const { bootstrap, connectTimeoutMs: dialTimeoutMs } = this.#options;
      const node = await this.#running();
      const { Libp2pTopic } = await import('./libp2p-topic.ts');
      const user = { onFound, onLeft };
      return new Libp2pTopic(topic, {
        node,
        bootstrap,
        dialTimeoutMs,
        clock: systemClock,
        limits: this.#options,
        user,
      });
    });
  }

  /** Takes no more connections, ends those that are open, leaves topics, and stops the node. */
  async close(): Promise<void> {
    this.#onConnection = undefined;
    await this.#topics.leaveAll();
    await Promise.all([...this.#ends].map((end) => end.close()));
    const node = this.#node;
    this.#node = undefined;
    await (await node?.catch(() => undefined))?.stop();
  }

  async #stopListening(node: Libp2p, onConnection: (connection: CarriedConnection) => void): Promise<void> {
    if (this.#onConnection !== onConnection) return;
    this.#onConnection = undefined;
    await this.#topics.leaveAll();
    await node.unhandle(CHANNEL_PROTOCOL);
  }

  /** One that could not be started is started anew by the next who needs it. */
  #running(): Promise<Libp2p> {
    this.#node ??= startNode(this.#options).catch((error: unknown) => {
      this.#node = undefined;
      throw error;
    });
    return this.#node;
  }

  /**
   * Closes a connection with limits, over a relay, when no end is left on it: the next one then begins with new limits, and the
   * relay keeps nothing for it.
   */
  #closeUnused(peer: PeerConnection): void {
    if ((this.#endsOver.get(peer) ?? 0) > 0) return;
    this.#endsOver.delete(peer);
    if (peer.limits !== undefined && peer.direction === 'outbound')
      peer.close().catch((error: Error) => peer.abort(error));
  }

  #open(stream: PeerStream, peer: PeerConnection): CarriedConnection {
    const key = peer.remotePeer.publicKey?.raw;
    const end = new CarriedConnection(
      (user) => new ByteStreamCarrier((bytes) => libp2pStream(stream, bytes), this.maxFrameBytes, user),
      {
        maxFrameBytes: this.maxFrameBytes,
        clock: systemClock,
        ...(key === undefined ? {} : { remoteKey: () => Buffer.from(key).toString('hex') }),
        onOver: (over) => {
          this.#ends.delete(over);
          this.#endsOver.set(peer, (this.#endsOver.get(peer) ?? 1) - 1);
          this.#closeUnused(peer);
        },
      },
    );
    this.#ends.add(end);
    this.#endsOver.set(peer, (this.#endsOver.get(peer) ?? 0) + 1);
    return end;
  }
}

/**
 * The address that others find this node at: a place at a relay, for who takes one cannot be reached without; else the first that
 * is not of this machine alone, if there is one.
 */
function addressOf(node: Libp2p, listen: readonly string[]): string | undefined {
  const place = listen.find(isRelayed);
  if (place !== undefined) return `${place}/p2p/${node.peerId}`;
  const all = node.getMultiaddrs().map(String);
  return all.find((address) => !LOOPBACK.test(address)) ?? all[0];
}

/** Without a peer id nobody would be known to be at the other end. */
function multiaddrOf(address: string): Multiaddr {
  try {
    const parsed = multiaddr(address);
    if (peerIn(parsed) !== undefined) return parsed;
  } catch {
    // Said below.
  }
  throw unreachable(address, 'it is not a multiaddr with /p2p/ and a peer id');
}
