import type { Topic } from '../../runtime/protocol/transport.ts';

/** A topic whose ends also tell each other something. */
export interface GossipTopic extends Topic {
  /**
   * Tells all ends of the topic, as far as gossip reaches them: a message may be lost, and is never told to this end. Resolves with
   * how many it was given to. Fails with INVALID_OPTIONS for more than 65,536 bytes, and once the topic was left.
   */
  publish(bytes: Uint8Array): Promise<number>;

  /**
   * Calls `handler` with each message, until the returned function is called. `from` is the address of the end that has signed it;
   * who that is, and whether what it says is true, is for the handler to judge. Messages of one end may come in any order.
   */
  onMessage(handler: (bytes: Uint8Array, from: string) => void): () => void;
}
