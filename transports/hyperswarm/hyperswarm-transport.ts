import DHT, { type ConnectionOptions, type KeyPair, type SecretStream, type Server } from 'hyperdht';
import type { z } from 'zod';
import { cancelled, invalidOptions, isOrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import {
  type Listener,
  type Topic,
  type TopicTransport,
  type TransportSpec,
  unreachable,
} from '../../runtime/protocol/transport.ts';
import { ByteStreamCarrier } from '../byte-frames/byte-stream-carrier.ts';
import { greet } from '../byte-frames/greeting.ts';
import { CarriedConnection } from '../carried-connection.ts';
import { JoinedTopics } from '../topics/joined-topics.ts';
import { HyperswarmOptions } from './hyperswarm-options.ts';
import { hyperswarmStream } from './hyperswarm-stream.ts';
import { addressOf, HyperswarmTopic } from './hyperswarm-topic.ts';

const ADDRESS = /^(?:hyperswarm:)?([0-9a-f]{64})$/i;
const LOOPBACK = '127.0.0.1';

/**
 * Makes a transport over Hyperswarm: `hyperSwarm({ seed })`. The same seed gives the same address again.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export const hyperSwarm = (options: HyperswarmOptions = {}): HyperswarmTransport =>
  new HyperswarmTransport(options, {
    module: new URL('./hyperswarm-transport.ts', import.meta.url).href,
    make: 'hyperSwarm',
    options,
  });

/**
 * Carries frames over Hyperswarm's DHT, which finds an end by its public key and makes a way through firewalls. An address is
 * `hyperswarm:` and that key, 64 hexadecimal digits; the key alone will do. Every stream is encrypted, and both ends have proved
 * their keys.
 *
 * Its node of the DHT keeps the process alive from the first `connect` or `listen` until `close`.
 */
export class HyperswarmTransport implements TopicTransport {
  readonly kind = 'hyperswarm';
  readonly canJoin = true;
  readonly maxFrameBytes: number;
  readonly #options: z.output<typeof HyperswarmOptions>;
  readonly #keyPair: KeyPair;
  readonly #ends = new Set<CarriedConnection>();
  readonly #topics = new JoinedTopics();
  #node: DHT | undefined;
  #server: Server | undefined;

  readonly spec?: TransportSpec;

  /** Fails with INVALID_OPTIONS naming field and value. */
  constructor(options: HyperswarmOptions = {}, spec?: TransportSpec) {
    if (spec !== undefined) this.spec = spec;
    this.#options = parseOptions(HyperswarmOptions, options, 'hyperSwarm');
    this.maxFrameBytes = this.#options.maxFrameBytes;
    const { seed, keyPair } = this.#options;
    this.#keyPair = keyPair ?? DHT.keyPair(typeof seed === 'string' ? Buffer.from(seed, 'hex') : seed);
  }

  /** The public key of this end, in hexadecimal. */
  get publicKey(): string {
    return hexOf(this.#keyPair.publicKey);
  }

  /** Ends of connections that are open here. */
  get openEnds(): number {
    return this.#ends.size;
  }

  get isListening(): boolean {
    return this.#server !== undefined;
  }

  async connect(
    address: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<CarriedConnection> {
    if (signal?.aborted === true) throw cancelled(`Connecting to "${address}"`);
    const key = ADDRESS.exec(address)?.[1];
    if (key === undefined) throw unreachable(address, 'it is not a public key of 64 hexadecimal digits');
    const node = this.#dht();
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(cancelled(`Connecting to "${address}"`));
    signal?.addEventListener('abort', abort, { once: true });
    let end: CarriedConnection | undefined;
    try {
      // Until then a node does not know whether others reach it, and one that learns of it while it connects is refused.
      await Promise.race([node.fullyBootstrapped(), aborted.promise]);
      end = this.#open(node.connect(Buffer.from(key, 'hex'), this.#relays()));
      await Promise.race([greet(end, systemClock, this.#options.connectTimeoutMs), aborted.promise]);
      return end;
    } catch (error) {
      end?.destroy();
      throw isOrreryError(error) && error.code === 'CANCELLED'
        ? error
        : unreachable(address, reasonOf(error), error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Fails with INVALID_OPTIONS while it listens already. */
  async listen(onConnection: (connection: CarriedConnection) => void): Promise<Listener> {
    if (this.#server !== undefined)
      throw invalidOptions('hyperSwarm.seed', this.publicKey, 'a key that nobody listens with yet');
    const server = this.#dht().createServer(this.#relays(), (stream) => {
      const end = this.#open(stream);
      greet(end, systemClock, this.#options.connectTimeoutMs).then(
        () => onConnection(end),
        () => end.destroy(),
      );
    });
    this.#server = server;
    try {
      await server.listen(this.#keyPair);
    } catch (error) {
      this.#server = undefined;
      throw invalidOptions(
        'hyperSwarm.bootstrap',
        this.#options.bootstrap,
        `a DHT to listen in (${reasonOf(error)})`,
      );
    }
    return {
      address: addressOf(this.#keyPair.publicKey),
      close: async () => {
        if (this.#server !== server) return;
        this.#server = undefined;
        await this.#topics.leaveAll();
        await server.close();
      },
    };
  }

  /**
   * Whoever leaves, or closes, is found no more. An end that dies is found for 20 minutes. A Hyperswarm that joins the same 32
   * bytes, SHA-256 of `orrery/topic/1.0.0/` and the topic, finds this end and is found.
   */
  async join(topic: string, onFound: (address: string) => void): Promise<Topic> {
    const server = this.#server;
    return this.#topics.join(topic, server !== undefined, async (onLeft) => {
      return new HyperswarmTopic(topic, {
        node: this.#dht(),
        server: server as Server,
        keyPair: this.#keyPair,
        clock: systemClock,
        limits: this.#options,
        user: { onFound, onLeft },
      });
    });
  }

  /** Takes no more connections, ends those that are open, and leaves topics and the DHT. */
  async close(): Promise<void> {
    await this.#topics.leaveAll();
    await Promise.all([...this.#ends].map((end) => end.close()));
    const node = this.#node;
    this.#node = undefined;
    this.#server = undefined;
    await node?.destroy();
  }

  #dht(): DHT {
    const { bootstrap, host, port } = this.#options;
    this.#node ??= new DHT({
      keyPair: this.#keyPair,
      ...(bootstrap === undefined ? {} : { bootstrap }),
      ...(port === undefined ? {} : { port }),
      ...(host === undefined ? {} : { host }),
      // On loopback nobody tells a node that it is reachable, and one that does not know it carries no data.
      ...(host === LOOPBACK ? { firewalled: false, ephemeral: false } : {}),
    });
    return this.#node;
  }

  #relays(): ConnectionOptions {
    const { relayThrough } = this.#options;
    return relayThrough === undefined
      ? {}
      : { relayThrough: relayThrough.map((key) => Buffer.from(key, 'hex')) };
  }

  #open(stream: SecretStream): CarriedConnection {
    const end = new CarriedConnection(
      (user) => new ByteStreamCarrier((bytes) => hyperswarmStream(stream, bytes), this.maxFrameBytes, user),
      {
        maxFrameBytes: this.maxFrameBytes,
        clock: systemClock,
        remoteKey: () => hexOf(stream.remotePublicKey),
        onOver: (over) => this.#onOver(over),
      },
    );
    this.#ends.add(end);
    return end;
  }

  #onOver(end: CarriedConnection): void {
    this.#ends.delete(end);
    const key = end.remoteKey;
    if (key !== undefined && ![...this.#ends].some((other) => other.remoteKey === key))
      this.#topics.forget(addressOf(Buffer.from(key, 'hex')));
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
