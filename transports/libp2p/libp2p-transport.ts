import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import type { Libp2p } from 'libp2p';
import type { z } from 'zod';
import { cancelled, invalidOptions, reasonOf } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { type Listener, type Transport, type TransportSpec, unreachable } from '../../runtime/protocol/transport.ts';
import { CHANNEL_PROTOCOL } from '../byte-frames/byte-frame.ts';
import { ByteStreamCarrier } from '../byte-frames/byte-stream-carrier.ts';
import { CarriedConnection } from '../carried-connection.ts';
import { type PeerConnection, type PeerStream, startNode } from './libp2p-node.ts';
import { Libp2pOptions } from './libp2p-options.ts';
import { libp2pStream } from './libp2p-stream.ts';

/** Every connection is a stream, and libp2p allows 32 for one peer unless it is told otherwise. */
const MAX_STREAMS = 1_024;

/**
 * Carries frames over libp2p 3: TCP, Noise, Yamux. An address is a multiaddr with `/p2p/` and the peer id of the end that
 * listens there; one of somebody else is refused. All connections to a peer share one of libp2p.
 *
 * Its node keeps the process alive from the first `connect` or `listen` until `close`.
 */
export class Libp2pTransport implements Transport {
  readonly kind = 'libp2p';
  readonly maxFrameBytes: number;
  readonly #options: z.output<typeof Libp2pOptions>;
  readonly #ends = new Set<CarriedConnection>();
  #node: Promise<Libp2p> | undefined;
  #onConnection: ((connection: CarriedConnection) => void) | undefined;

  readonly spec?: TransportSpec;

  /** Fails with INVALID_OPTIONS naming field and value. */
  constructor(options: Libp2pOptions = {}, spec?: TransportSpec) {
    if (spec !== undefined) this.spec = spec;
    this.#options = parseOptions(Libp2pOptions, options, 'libp2p');
    this.maxFrameBytes = this.#options.maxFrameBytes;
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
      const stream = await connection.newStream(CHANNEL_PROTOCOL, {
        signal: attempt.signal,
        maxOutboundStreams: MAX_STREAMS,
      });
      return this.#open(stream, connection);
    } catch (error) {
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
      const [address] = node.getMultiaddrs();
      if (address === undefined) throw new Error('there is none');
      await node.handle(CHANNEL_PROTOCOL, (stream, peer) => onConnection(this.#open(stream, peer)), {
        maxInboundStreams: MAX_STREAMS,
        maxOutboundStreams: MAX_STREAMS,
      });
      return { address: address.toString(), close: () => this.#stopListening(node, onConnection) };
    } catch (error) {
      this.#onConnection = undefined;
      throw invalidOptions('libp2p.listen', listen, `addresses to listen at (${reasonOf(error)})`);
    }
  }

  /** Takes no more connections, ends those that are open, and stops the node. */
  async close(): Promise<void> {
    this.#onConnection = undefined;
    await Promise.all([...this.#ends].map((end) => end.close()));
    const node = this.#node;
    this.#node = undefined;
    await (await node?.catch(() => undefined))?.stop();
  }

  async #stopListening(node: Libp2p, onConnection: (connection: CarriedConnection) => void): Promise<void> {
    if (this.#onConnection !== onConnection) return;
    this.#onConnection = undefined;
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

  #open(stream: PeerStream, peer: PeerConnection): CarriedConnection {
    const key = peer.remotePeer.publicKey?.raw;
    const end = new CarriedConnection(
      (user) => new ByteStreamCarrier((bytes) => libp2pStream(stream, bytes), this.maxFrameBytes, user),
      {
        maxFrameBytes: this.maxFrameBytes,
        clock: systemClock,
        ...(key === undefined ? {} : { remoteKey: () => Buffer.from(key).toString('hex') }),
        onOver: (over) => this.#ends.delete(over),
      },
    );
    this.#ends.add(end);
    return end;
  }
}

/** Without a peer id nobody would be known to be at the other end. */
function multiaddrOf(address: string): Multiaddr {
  try {
    const parsed = multiaddr(address);
    if (parsed.getComponents().some(({ name }) => name === 'p2p')) return parsed;
  } catch {
    // Said below.
  }
  throw unreachable(address, 'it is not a multiaddr with /p2p/ and a peer id');
}
