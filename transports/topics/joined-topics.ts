import { cancelled, invalidOptions } from '../../runtime/protocol/errors.ts';
import type { Topic } from '../../runtime/protocol/transport.ts';
import { requireTopic } from './topic-name.ts';

/** A topic that is joined, and what its transport tells it. */
export interface JoinedTopic extends Topic {
  /** Resolves after the first announcement. */
  start(): Promise<void>;
  /** A connection to the address was lost, or could not be opened. */
  forget(address: string): void;
}

interface Entry {
  topic?: JoinedTopic;
}

/** The topics that one transport has joined. */
export class JoinedTopics {
  readonly #byName = new Map<string, Entry>();

  /**
   * Joins what `open` makes; that calls `left` once it has left. Fails with INVALID_OPTIONS as `TopicTransport` says, and with
   * CANCELLED when the transport is closed meanwhile.
   */
  async join<Joined extends JoinedTopic>(
    name: string,
    isListening: boolean,
    open: (left: () => void) => Promise<Joined>,
  ): Promise<Joined> {
    requireTopic(name);
    if (!isListening) throw invalidOptions('isListening', false, `true before "${name}" is joined`);
    if (this.#byName.has(name)) throw invalidOptions('topic', name, 'one that is not joined yet');
    const entry: Entry = {};
    const left = (): void => {
      if (this.#byName.get(name) === entry) this.#byName.delete(name);
    };
    this.#byName.set(name, entry);
    try {
      const topic = await open(left);
      entry.topic = topic;
      if (this.#byName.get(name) === entry) await topic.start();
      if (this.#byName.get(name) !== entry) throw cancelled(`Joining "${name}"`);
      return topic;
    } catch (error) {
      left();
      throw error;
    }
  }

  /** A connection to the address was lost, or could not be opened. */
  forget(address: string): void {
    for (const { topic } of this.#byName.values()) topic?.forget(address);
  }

  async leaveAll(): Promise<void> {
    const entries = [...this.#byName.values()];
    await Promise.all(entries.map(({ topic }) => topic?.leave()));
    this.#byName.clear();
  }
}
