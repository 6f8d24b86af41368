import {
  type GossipSub,
  type Message,
  type SubscriptionChangeData,
  TopicValidatorResult,
} from '@libp2p/gossipsub';
import type { SingleKadDHT } from '@libp2p/kad-dht';
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import type { Libp2p } from 'libp2p';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { unreachable } from '../../runtime/protocol/transport.ts';
import type { JoinedTopic } from '../topics/joined-topics.ts';
import { fullNameOf } from '../topics/topic-name.ts';
import { type TopicLimits, TopicSearch, type TopicUser } from '../topics/topic-search.ts';
import type { GossipTopic } from './gossip-topic.ts';
import { peerAddress, peerIn } from './libp2p-address.ts';
import { MAX_MESSAGE_BYTES, RECORD_MS } from './topic-limits.ts';
import { topicCid } from './topic-services.ts';

type PeerId = Libp2p['peerId'];

/** How long one question to the DHT may take, milliseconds. */
const QUERY_MS = 30_000;

/**
 * - `bootstrap`     multiaddrs of ends of the DHT that are called while there is no connection to any of them.
 * - `dialTimeoutMs` how long an end that was found may take to answer, milliseconds.
 * - `onLeft`        called once, when this end provides it no more.
 */
export interface Libp2pTopicDeps {
  readonly node: Libp2p;
  readonly bootstrap: readonly string[];
  readonly dialTimeoutMs: number;
  readonly clock: Clock;
  readonly limits: TopicLimits;
  readonly user: TopicUser;
}

/**
 * A topic in the DHT and in gossip. An end provides a CID in the DHT, and subscribes to gossip of the same name. The DHT finds ends
 * from nothing; each is called before it counts, for records of the dead stay. Then gossip says, over the connection, whether it is
 * still in the topic, when it leaves, and to those who were there that it is new. An end that does not gossip is believed its record.
 */
export class Libp2pTopic implements JoinedTopic, GossipTopic {
  readonly name: string;
  readonly #deps: Libp2pTopicDeps;
  readonly #fullName: string;
  readonly #cid: ReturnType<typeof topicCid>;
  readonly #dht: SingleKadDHT;
  readonly #gossip: GossipSub;
  readonly #search: TopicSearch;
  readonly #handlers = new Set<(bytes: Uint8Array, from: string) => void>();
  /** Ends with a record that are connected, and have not said yet what they speak. */
  readonly #unidentified = new Set<string>();
  #leaving: Promise<void> | undefined;

  constructor(name: string, deps: Libp2pTopicDeps) {
    const { node, clock, limits, user } = deps;
    this.name = name;
    this.#deps = deps;
    this.#fullName = fullNameOf(name);
    this.#cid = topicCid(name);
    this.#dht = node.services['dht'] as SingleKadDHT;
    this.#gossip = node.services['gossip'] as GossipSub;
    this.#search = new TopicSearch({
      clock,
      limits,
      onFound: (address) => user.onFound(address),
      announceMs: RECORD_MS / 4,
      announce: (_found, signal) => this.#provide(signal),
      search: (found, signal) => this.#find(found, signal),
    });
  }

  get trouble(): string | undefined {
    return this.#search.trouble;
  }

  async start(): Promise<void> {
    const { node } = this.#deps;
    this.#gossip.topicValidators.set(this.#fullName, (_peer, message) =>
      isSound(message) ? TopicValidatorResult.Accept : TopicValidatorResult.Reject,
    );
    this.#gossip.addEventListener('subscription-change', this.#onSubscription);
    this.#gossip.addEventListener('message', this.#onMessage);
    node.addEventListener('peer:identify', this.#onIdentify);
    node.addEventListener('peer:disconnect', this.#onDisconnect);
    this.#gossip.subscribe(this.#fullName);
    await this.#search.start();
  }

  forget(address: string): void {
    this.#search.forget(address);
  }

  async publish(bytes: Uint8Array): Promise<number> {
    if (bytes.byteLength > MAX_MESSAGE_BYTES)
      throw invalidOptions('bytes', bytes.byteLength, `at most ${MAX_MESSAGE_BYTES} bytes`);
    if (this.#leaving !== undefined) throw invalidOptions('topic', this.name, 'one that was not left');
    return (await this.#gossip.publish(this.#fullName, bytes)).recipients.length;
  }

  onMessage(handler: (bytes: Uint8Array, from: string) => void): () => void {
    const own = (bytes: Uint8Array, from: string): void => handler(bytes, from);
    this.#handlers.add(own);
    return () => {
      this.#handlers.delete(own);
    };
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    const { node, user } = this.#deps;
    this.#gossip.removeEventListener('subscription-change', this.#onSubscription);
    this.#gossip.removeEventListener('message', this.#onMessage);
    node.removeEventListener('peer:identify', this.#onIdentify);
    node.removeEventListener('peer:disconnect', this.#onDisconnect);
    this.#handlers.clear();
    await this.#search.stop();
    this.#gossip.unsubscribe(this.#fullName);
    this.#gossip.topicValidators.delete(this.#fullName);
    await this.#dht.cancelReprovide(this.#cid);
    user.onLeft();
  }

  /** With nobody in the table it was told to nobody. */
  async #provide(stopped: AbortSignal): Promise<boolean> {
    await this.#callBootstrap(stopped);
    const { node } = this.#deps;
    await this.#within(QUERY_MS, stopped, (signal) => node.contentRouting.provide(this.#cid, { signal }));
    return this.#dht.routingTable.size > 0;
  }

  async #find(found: (address: string) => void, stopped: AbortSignal): Promise<void> {
    const { node, limits, dialTimeoutMs } = this.#deps;
    await this.#callBootstrap(stopped);
    for (const peer of this.#gossip.getSubscribers(this.#fullName)) found(peerAddress(peer));
    const calls = new Map<string, Promise<void>>();
    await this.#within(QUERY_MS, stopped, async (signal) => {
      for await (const { id } of node.contentRouting.findProviders(this.#cid, { signal })) {
        if (calls.size >= limits.maxFound) break;
        if (id.equals(node.peerId) || calls.has(id.toString())) continue;
        const call = this.#within(dialTimeoutMs, stopped, (timeout) => node.dial(id, { signal: timeout }));
        // Whoever does not answer is not there.
        calls.set(
          id.toString(),
          call.then(() => this.#judge(id, found)).catch(() => undefined),
        );
      }
    });
    await Promise.all(calls.values());
  }

  /** An end with a record is connected. What it speaks may be known already. */
  async #judge(id: PeerId, found: (address: string) => void): Promise<void> {
    const { protocols } = await this.#deps.node.peerStore.get(id);
    if (protocols.length === 0) this.#unidentified.add(id.toString());
    else if (!this.#gossips(protocols)) found(peerAddress(id));
  }

  async #callBootstrap(stopped: AbortSignal): Promise<void> {
    const { node, bootstrap, dialTimeoutMs } = this.#deps;
    const peers = new Set(node.getPeers().map(String));
    const isThere = (target: Multiaddr): boolean => peers.has(peerIn(target) ?? '');
    const targets = bootstrap
      .map((address) => multiaddr(address))
      .filter((target) => peerIn(target) !== node.peerId.toString());
    if (targets.length === 0 || targets.some(isThere)) return;
    await this.#within(dialTimeoutMs, stopped, (signal) =>
      Promise.any(targets.map((target) => node.dial(target, { signal }))),
    ).catch((error: unknown) => {
      throw unreachable(bootstrap.join(' '), 'no end of the DHT answers', error);
    });
  }

  readonly #onSubscription = ({ detail }: CustomEvent<SubscriptionChangeData>): void => {
    for (const { topic, subscribe } of detail.subscriptions) {
      if (topic !== this.#fullName) continue;
      if (subscribe) this.#search.show(peerAddress(detail.peerId));
      else this.#search.forget(peerAddress(detail.peerId));
    }
  };

  readonly #onMessage = ({ detail }: CustomEvent<Message>): void => {
    if (detail.topic !== this.#fullName || detail.type !== 'signed') return;
    for (const handler of this.#handlers) handler(detail.data, peerAddress(detail.from));
  };

  readonly #onIdentify = ({ detail }: CustomEvent<{ peerId: PeerId; protocols: string[] }>): void => {
    const { peerId, protocols } = detail;
    if (this.#unidentified.delete(peerId.toString()) && !this.#gossips(protocols))
      this.#search.show(peerAddress(peerId));
    if (!this.#search.isAnnounced) this.#search.soon();
  };

  readonly #onDisconnect = ({ detail }: CustomEvent<PeerId>): void => {
    this.#unidentified.delete(detail.toString());
    this.#search.forget(peerAddress(detail));
  };

  #gossips(protocols: readonly string[]): boolean {
    return this.#gossip.protocols.some((protocol) => protocols.includes(protocol));
  }

  async #within<Result>(
    timeoutMs: number,
    stopped: AbortSignal,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const attempt = new AbortController();
    const cancel = this.#deps.clock.setTimer(timeoutMs, () =>
      attempt.abort(new Error(`it took longer than ${timeoutMs} ms`)),
    );
    try {
      return await run(AbortSignal.any([stopped, attempt.signal]));
    } finally {
      cancel();
    }
  }
}

const isSound = (message: Message): boolean =>
  message.type === 'signed' && message.data.byteLength <= MAX_MESSAGE_BYTES;
