import { EventRing } from '../observe/event-ring.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';

/** The last envelopes, to be found by the conversation that they belong to. */
export class ThreadIndex {
  readonly #ring: EventRing<A2AEnvelope>;

  /** @param capacity envelopes kept, of all conversations together */
  constructor(capacity = 10_000) {
    this.#ring = new EventRing(capacity);
  }

  record(envelope: A2AEnvelope): void {
    if (envelope.correlationId !== undefined) this.#ring.push(envelope);
  }

  /** The envelopes of one conversation in timestamp order; those of one millisecond in the order they were sent. */
  find(correlationId: string): readonly A2AEnvelope[] {
    return this.#ring
      .toArray()
      .filter((envelope) => envelope.correlationId === correlationId)
      .sort((one, other) => one.timestamp - other.timestamp);
  }
}
