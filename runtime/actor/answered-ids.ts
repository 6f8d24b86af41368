/** A death may have a sender send again what one batch of its handlings sent. */
const IDS_A_SENDER = 1_024;
const SENDERS = 64;

interface Answer {
  readonly kind: number | undefined;
  readonly payload: unknown;
}

/**
 * The last envelopes with derived ids that an agent took, and what it answered: when their sender died in mid-work and
 * sends them again under the same ids, they are not handled twice.
 *
 * Each sender has a share of its own: however much others send meanwhile, what it sent is still known.
 */
export class AnsweredIds {
  /** The one heard of last stands last. */
  readonly #senders = new Map<string, Map<string, Answer>>();

  /** What is known of `id`; when nothing is, it is remembered as taken from now on. */
  recall(sender: string, id: string): Answer | undefined {
    const answers = this.#of(sender);
    const known = answers.get(id);
    if (known !== undefined) return known;
    answers.set(id, { kind: undefined, payload: undefined });
    if (answers.size > IDS_A_SENDER) dropFirst(answers);
    return undefined;
  }

  remember(sender: string, id: string, answer: Answer): void {
    const answers = this.#senders.get(sender);
    if (answers?.has(id) === true) answers.set(id, answer);
  }

  #of(sender: string): Map<string, Answer> {
    const known = this.#senders.get(sender) ?? new Map<string, Answer>();
    this.#senders.delete(sender);
    this.#senders.set(sender, known);
    if (this.#senders.size > SENDERS) dropFirst(this.#senders);
    return known;
  }
}

function dropFirst(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
