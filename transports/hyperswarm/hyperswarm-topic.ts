import type DHT from 'hyperdht';
import type { KeyPair, PeerQuery, Server } from 'hyperdht';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { JoinedTopic } from '../topics/joined-topics.ts';
import { topicKey } from '../topics/topic-name.ts';
import { type TopicLimits, TopicSearch, type TopicUser } from '../topics/topic-search.ts';

/** Nodes of the DHT keep a record for 20 minutes. */
const ANNOUNCE_MS = 600_000;

/**
 * - `server` the one that listens with `keyPair`.
 * - `onLeft` called once, when it is announced no more.
 */
export interface HyperswarmTopicDeps {
  readonly node: DHT;
  readonly server: Server;
  readonly keyPair: KeyPair;
  readonly clock: Clock;
  readonly limits: TopicLimits;
  readonly user: TopicUser;
}

/** The address of the end that listens with this key. */
export const addressOf = (publicKey: Uint8Array): string =>
  `hyperswarm:${Buffer.from(publicKey).toString('hex')}`;

/** A topic in the DHT, with the records that Hyperswarm makes and looks for too. */
export class HyperswarmTopic implements JoinedTopic {
  readonly name: string;
  readonly #deps: HyperswarmTopicDeps;
  readonly #key: Buffer;
  readonly #own: string;
  readonly #search: TopicSearch;
  readonly #renew = (): void => this.#search.renew();
  #leaving: Promise<void> | undefined;

  constructor(name: string, deps: HyperswarmTopicDeps) {
    const { node, server, keyPair, clock, limits, user } = deps;
    this.name = name;
    this.#deps = deps;
    this.#key = topicKey(name);
    this.#own = addressOf(keyPair.publicKey);
    this.#search = new TopicSearch({
      clock,
      limits,
      onFound: (address) => user.onFound(address),
      announceMs: ANNOUNCE_MS,
      announce: async (found, signal) => {
        await this.#read(node.announce(this.#key, keyPair, server.relayAddresses), found, signal);
        return true;
      },
      search: (found, signal) => this.#read(node.lookup(this.#key), found, signal),
    });
    node.on('network-change', this.#renew);
  }

  get trouble(): string | undefined {
    return this.#search.trouble;
  }

  start(): Promise<void> {
    return this.#search.start();
  }

  forget(address: string): void {
    this.#search.forget(address);
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    const { node, keyPair, user } = this.#deps;
    node.off('network-change', this.#renew);
    await this.#search.stop();
    // Where it cannot be taken back, the record ends by itself.
    await node.unannounce(this.#key, keyPair).catch(() => undefined);
    user.onLeft();
  }

  async #read(query: PeerQuery, found: (address: string) => void, signal: AbortSignal): Promise<void> {
    const stop = (): void => query.destroy();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      for await (const { peers } of query)
        for (const { publicKey } of peers) {
          const address = addressOf(publicKey);
          if (address !== this.#own) found(address);
        }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
